"""Each fault, from each provider's protocol, through the real litellm in its real process; of OpenAI's protocol without it, too."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import pytest

from agent.domain.chat import ToolCall
from agent.errors import Exit
from agent.model.client import Child, ClientModel
from agent.model.errors import Kind, ModelError, Reason
from agent.model.process import DIRECT, LITELLM
from agent.model.protocol import Endpoint
from tests.model.chat_server import ChatServer, as_json, calls, reply, text
from tests.model.conftest import ASKED, KEY, clean_env
from tests.model.dialects import DIALECTS, Dialect
from tests.model.faults import FAULTS, Fault

NAMES = [dialect.caller if dialect.caller == DIRECT else dialect.model.partition("/")[0] for dialect in DIALECTS]
OPENAI = pytest.mark.parametrize("dialect", DIALECTS[:2], ids=NAMES[:2])


@pytest.fixture(scope="module")
def children(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Child]]:
    env = clean_env(tmp_path_factory.mktemp("home"), FAKE_API_KEY=KEY, AZURE_API_VERSION="2024-10-21")
    running = {caller: Child(env, caller=caller) for caller in (LITELLM, DIRECT)}
    yield running
    for child in running.values():
        child.close()


def failing(model: ClientModel) -> ModelError:
    with pytest.raises(ModelError) as caught:
        model.complete(ASKED)
    return caught.value


def asked(children: Mapping[str, Child], server: ChatServer, dialect: Dialect = DIALECTS[0], limit: float = 20.0) -> ClientModel:
    return ClientModel(dialect.model, Endpoint(server.url.removesuffix("/v1") + dialect.path, "FAKE_API_KEY"), children[dialect.caller], limit=limit)


@pytest.mark.parametrize("dialect", DIALECTS, ids=NAMES)
@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_each_fault_is_told_alike_by_each_protocol_after_one_request(
    children: Mapping[str, Child], server: ChatServer, dialect: Dialect, fault: Fault
) -> None:
    server.says(fault.answer(dialect))
    error = failing(asked(children, server, dialect, 0.5 if fault.name == "no answer in time" else 20.0))
    assert (error.kind, error.reason, error.retry_after, error.tries) == (fault.kind, fault.reason, fault.wait, fault.tries), error.message
    assert error.code is {Kind.WAIT: Exit.UNAVAILABLE, Kind.MEND: Exit.ERROR}.get(
        error.kind, Exit.UNAVAILABLE if error.reason is Reason.QUOTA else Exit.ERROR
    )
    assert len([sent for sent in server.requests if sent.path != "/api/show"]) == 1  # which asks ollama what the model can
    assert dialect.model in error.message
    assert error.hint
    assert not [word for word in ("\n", "Traceback", "litellm", "{", KEY) if word in error.message.lower()], error.message


@pytest.mark.parametrize("dialect", DIALECTS, ids=NAMES)
def test_a_reply_at_its_length_limit_is_told_as_cut_off_by_each_protocol(children: Mapping[str, Child], server: ChatServer, dialect: Dialect) -> None:
    server.says(as_json(dialect.said("and th", "length")))
    assert asked(children, server, dialect).complete(ASKED).finish == "length"


@OPENAI
def test_what_a_model_makes_up_arrives_as_it_was_written(children: Mapping[str, Child], server: ChatServer, dialect: Dialect) -> None:
    server.says(calls(("reed", "[1, 2]"), ("read", '{"path": "a.p'), finish="tool_calls"))
    assert asked(children, server, dialect).complete(ASKED).calls == (
        ToolCall("call_1", "reed", "[1, 2]"),
        ToolCall("call_2", "read", '{"path": "a.p'),
    )

    whole = {"id": "c", "type": "function", "function": {"name": "read", "arguments": {"path": "a.py"}}}
    server.says(reply({"tool_calls": [whole]}, finish="eos_token_x"))
    got = asked(children, server, dialect).complete(ASKED)
    assert (got.calls, got.finish) == ((ToolCall("c", "read", '{"path": "a.py"}'),), "stop")


@OPENAI
@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None}, {"prompt_tokens": -5, "completion_tokens": 10**12}, {"prompt_tokens": "12"}])
def test_a_usage_that_is_missing_or_nonsense_is_estimated_and_never_nothing(
    children: Mapping[str, Child], server: ChatServer, dialect: Dialect, usage: dict[str, int] | None
) -> None:
    server.says(as_json(DIALECTS[0].said("one two three four", "stop") | {"usage": usage}))
    used = asked(children, server, dialect).complete(ASKED).usage
    assert 10 <= used.input < 200
    assert 1 <= used.output < 20


@OPENAI
def test_nobody_there_and_no_such_host_are_waited_for(children: Mapping[str, Child], dialect: Dialect) -> None:
    for address in ("http://127.0.0.1:9/v1", "http://nowhere.invalid/v1"):
        error = failing(ClientModel(dialect.model, Endpoint(address, "FAKE_API_KEY"), children[dialect.caller], limit=20.0))
        assert (error.kind, error.reason, error.code) == (Kind.WAIT, Reason.UNREACHABLE, Exit.UNAVAILABLE), error.message


def test_without_a_key_or_a_provider_nothing_is_sent(children: Mapping[str, Child], server: ChatServer) -> None:
    server.says(text("hi"))
    for name, reason in [("openai/gpt-4o", Reason.NO_KEY), ("gemini/gemini-2.5-pro", Reason.NO_KEY), ("nowhere/x", Reason.UNKNOWN_MODEL)]:
        error = failing(ClientModel(name, Endpoint(), children[LITELLM]))
        assert (error.kind, error.reason) == (Kind.STOP, reason)
    assert server.requests == []


def test_claude_alone_is_told_what_to_cache(children: Mapping[str, Child], server: ChatServer) -> None:
    for dialect in DIALECTS:
        server.says(as_json(dialect.said("ok", "stop")))
        assert asked(children, server, dialect).complete(ASKED).text == "ok"
        told = [json.dumps(sent.body).count('"cache_control"') for sent in server.requests]
        assert max(told) == (2 if dialect.model.startswith("anthropic/") else 0)
