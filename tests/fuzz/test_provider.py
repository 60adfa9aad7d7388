"""Whatever a provider's server sends, through the real litellm or without it, in a real process: a reply, or an error with its mend that says what to do."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.domain.chat import Reply
from agent.errors import Exit
from agent.model.client import Child, ClientModel
from agent.model.comeback import seconds_until
from agent.model.errors import Facts, ModelError, Origin, error_for
from agent.model.process import DIRECT, LITELLM
from agent.model.protocol import Endpoint
from tests.fuzz.examples import assert_told, examples, in_time
from tests.fuzz.inputs import ANY_BYTES, NUMBERS, damaged, damaged_json
from tests.model.chat_server import Answer, ChatServer, calls, text
from tests.model.conftest import ASKED, KEY, clean_env

HEADERS = st.dictionaries(
    st.sampled_from(["retry-after", "retry-after-ms", "x-ratelimit-reset-requests", "x-ratelimit-remaining-requests", "anthropic-ratelimit-tokens-reset"]),
    st.sampled_from([*NUMBERS, "9" * 20 + "d", "1m3s", "120ms", "Sat, 29 Nov 9999 99:99:99 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", "2026-11-29T25:00:00Z", ""]),
    max_size=3,
)  # fmt: skip
VALID = st.sampled_from(
    [
        json.loads(answer.body)
        for answer in (text("Done."), calls(("read", {"path": "a.py"}), said="x"), calls(("run", "{torn")), text("cut", finish="length"))
    ]
)
ERRORS = st.sampled_from(
    [
        {"error": {"message": "no", "type": "x", "code": "y"}},
        {"message": "no"},
        {"detail": ["x"]},
        [{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}],
    ]
)
STATUSES = st.sampled_from([200, 200, 200, 201, 204, 301, 400, 401, 402, 403, 404, 408, 409, 413, 418, 422, 429, 499, 500, 502, 503, 504, 529, 599])
BODIES = damaged_json(VALID) | damaged_json(VALID) | damaged(VALID.map(lambda value: json.dumps(value).encode())) | damaged_json(ERRORS) | ANY_BYTES


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture(scope="module", params=[LITELLM, DIRECT])
def child(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Child]:
    running = Child(clean_env(tmp_path_factory.mktemp("home"), FAKE_API_KEY=KEY), caller=request.param)
    yield running
    running.close()


def assert_told_as_an_error(error: ModelError) -> None:
    assert_told(error)
    assert error.code is not Exit.BUG, error.message
    assert error.retry_after is None or 0 <= error.retry_after < math.inf
    assert KEY not in error.message


@examples(25)
@given(status=STATUSES, headers=HEADERS, body=BODIES)
@example(status=200, headers={}, body=b'{"error": {"message": "no", "type": "x", "code": "y", "__class__": {}}}')
def test_any_answer_is_a_reply_or_an_error_that_is_none_of_ours(
    child: Child, server: ChatServer, status: int, headers: Mapping[str, str], body: bytes
) -> None:
    sendable = {name: value for name, value in headers.items() if value.isascii() and len(value) < 1_000}
    server.says(Answer(body, status, {"Content-Type": "application/json", **sendable}))
    model = ClientModel("openai/local", Endpoint(server.url, "FAKE_API_KEY"), child, limit=20.0)
    try:
        reply = model.complete(ASKED)
    except ModelError as error:
        assert_told_as_an_error(error)
        return
    assert_sound(reply)


def assert_sound(reply: Reply) -> None:
    usage = reply.usage
    assert all(isinstance(part, str) for call in reply.calls for part in (call.id, call.name, call.args)), reply
    assert isinstance(reply.text, str)
    assert all(0 <= number < 10**9 for number in (usage.usd or 0.0, usage.input, usage.cached, usage.output)), usage


@examples(60)
@given(headers=HEADERS, body=ANY_BYTES, words=st.text(max_size=40) | st.sampled_from(NUMBERS).map("try again in {}s".format), status=STATUSES)
def test_any_words_of_when_to_come_back_are_a_time_or_none(headers: Mapping[str, str], body: bytes, words: str, status: int) -> None:
    with in_time():
        seconds = seconds_until(headers, body.decode("utf-8", "replace"), words, 1_796_000_000.0)
        assert seconds is None or 0 <= seconds < 10**9
        error = error_for("a/b", Facts(Origin.ANSWER, words, status, "", seconds))
    assert_told_as_an_error(error)
