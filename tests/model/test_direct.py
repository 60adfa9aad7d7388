"""Calls without litellm: which models they are for, and what no library of others does for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.model.client import Child, ClientModel, caller_for
from agent.model.errors import Kind, ModelError, Reason
from agent.model.kept import KeptModels
from agent.model.process import DIRECT, LITELLM
from agent.model.protocol import Endpoint, Task
from tests.model.chat_server import Answer, ChatServer, as_json, reply, text
from tests.model.conftest import ASKED, KEY, clean_env

HERE = Endpoint("http://127.0.0.1:8080/v1")


@pytest.fixture(scope="module")
def direct(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Child]:
    running = Child(clean_env(tmp_path_factory.mktemp("home"), FAKE_API_KEY=KEY), caller=DIRECT)
    yield running
    running.close()


def asked(direct: Child, address: str) -> ClientModel:
    return ClientModel("openai/local", Endpoint(address, "FAKE_API_KEY"), direct, limit=20.0)


def failing(model: ClientModel) -> ModelError:
    with pytest.raises(ModelError) as caught:
        model.complete(ASKED)
    return caught.value


@pytest.mark.parametrize("name", ["openai/local", "openai/qwen3-coder:30b", "openai/org/some-model"])
def test_a_model_of_ones_own_at_ones_own_address_needs_no_litellm(name: str) -> None:
    assert caller_for(name, HERE) == DIRECT


@pytest.mark.parametrize(
    "name", ["openai/gpt-4o", "openai/gpt-7-nobody-knows", "openai/o9", "openai/ft:gpt-4o:me", "openai/", "local", "ollama/local", "anthropic/local"]
)
def test_any_other_name_is_litellms(name: str) -> None:
    assert caller_for(name, HERE) == LITELLM


def test_without_an_address_of_ones_own_litellm_knows_where_to_go() -> None:
    assert caller_for("openai/local", Endpoint()) == LITELLM


def test_a_redirect_is_not_followed_since_whoever_it_leads_to_would_get_the_key(direct: Child, server: ChatServer) -> None:
    with ChatServer() as other:
        other.says(text("hi"))
        for status in (301, 302, 303, 307, 308):
            server.says(Answer(b"", status, {"Location": f"{other.url}/chat/completions"}))
            assert failing(asked(direct, server.url)).kind is Kind.MEND
        assert other.requests == []


def test_an_address_that_is_no_web_address_is_never_opened(direct: Child, tmp_path: Path) -> None:
    (tmp_path / "chat").mkdir()
    (tmp_path / "chat/completions").write_bytes(text("hi").body)
    for address in (f"file://{tmp_path}", f"ftp://127.0.0.1{tmp_path}", "127.0.0.1:80"):
        error = failing(asked(direct, address))
        assert (error.kind, error.reason, error.unsure) == (Kind.WAIT, Reason.UNREACHABLE, False)
        assert "neither with http:// nor with https://" in error.message


def test_an_error_that_comes_with_status_200_is_one(direct: Child, server: ChatServer) -> None:
    for code, reason in [(429, Reason.RATE), (402, Reason.QUOTA), (None, Reason.OVERLOADED), ("odd", Reason.OVERLOADED)]:
        server.says(as_json({"error": {"message": "no", "code": code}}))
        assert failing(asked(direct, server.url)).reason is reason


def test_a_text_in_parts_is_one_text(direct: Child, server: ChatServer) -> None:
    server.says(reply({"content": [{"type": "text", "text": "Look "}, {"type": "image"}, {"type": "text", "text": "first."}]}))
    assert asked(direct, server.url).complete(ASKED).text == "Look first."


def test_the_sum_of_a_calls_tokens_is_what_the_server_says(direct: Child, server: ChatServer) -> None:
    details = {"prompt_tokens_details": {"cached_tokens": 8}}
    server.says(text("hi", usage={"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15} | details))
    used = asked(direct, server.url).complete(ASKED).usage
    assert (used.input, used.cached, used.output, used.usd) == (10, 8, 5, None)


def test_models_of_both_kinds_may_take_turns_in_a_run(server: ChatServer, tmp_path: Path) -> None:
    server.says(text("hi"))
    with KeptModels(Endpoint(server.url), tmp_path) as kept:
        for name in ("openai/local", "openai/other", "openai/gpt-4o", "openai/local"):
            with kept.open(name, Task("x")) as model:
                assert model.complete(ASKED).text == "hi"
    assert [sent.body["model"] for sent in server.requests] == ["local", "other", "gpt-4o", "local"]
