"""Each fault, from each provider's protocol, through the real litellm in its real process."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from agent.domain.chat import ToolCall
from agent.errors import Exit
from agent.model.client import Child, ClientModel
from agent.model.errors import Kind, ModelError, Reason
from agent.model.protocol import Endpoint
from tests.model.chat_server import ChatServer, as_json, calls, reply, text
from tests.model.conftest import ASKED, KEY, clean_env
from tests.model.dialects import DIALECTS, Dialect
from tests.model.faults import FAULTS, Fault

HERE = "openai/local"


@pytest.fixture(scope="module")
def child(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Child]:
    running = Child(clean_env(tmp_path_factory.mktemp("home"), FAKE_API_KEY=KEY, AZURE_API_VERSION="2024-10-21"))
    yield running
    running.close()


def failing(model: ClientModel) -> ModelError:
    with pytest.raises(ModelError) as caught:
        model.complete(ASKED)
    return caught.value


def asked(child: Child, server: ChatServer, dialect: Dialect = DIALECTS[0], limit: float = 20.0) -> ClientModel:
    return ClientModel(dialect.model, Endpoint(server.url.removesuffix("/v1") + dialect.path, "FAKE_API_KEY"), child, limit=limit)


@pytest.mark.parametrize("dialect", DIALECTS, ids=[dialect.model.partition("/")[0] for dialect in DIALECTS])
@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_each_fault_is_told_alike_by_each_protocol_after_one_request(child: Child, server: ChatServer, dialect: Dialect, fault: Fault) -> None:
    server.says(fault.answer(dialect))
    error = failing(asked(child, server, dialect, 0.5 if fault.name == "no answer in time" else 20.0))
    assert (error.kind, error.reason, error.retry_after, error.tries) == (fault.kind, fault.reason, fault.wait, fault.tries), error.message
    assert error.code is {Kind.WAIT: Exit.UNAVAILABLE, Kind.MEND: Exit.ERROR}.get(
        error.kind, Exit.UNAVAILABLE if error.reason is Reason.QUOTA else Exit.ERROR
    )
    assert len([sent for sent in server.requests if sent.path != "/api/show"]) == 1  # which asks ollama what the model can
    assert dialect.model in error.message
    assert error.hint
    assert not [word for word in ("\n", "Traceback", "litellm", "{", KEY) if word in error.message.lower()], error.message


@pytest.mark.parametrize("dialect", DIALECTS, ids=[dialect.model.partition("/")[0] for dialect in DIALECTS])
def test_a_reply_at_its_length_limit_is_told_as_cut_off_by_each_protocol(child: Child, server: ChatServer, dialect: Dialect) -> None:
    server.says(as_json(dialect.said("and th", "length")))
    assert asked(child, server, dialect).complete(ASKED).finish == "length"


def test_what_a_model_makes_up_arrives_as_it_was_written(child: Child, server: ChatServer) -> None:
    server.says(calls(("reed", "[1, 2]"), ("read", '{"path": "a.p'), finish="tool_calls"))
    assert asked(child, server).complete(ASKED).calls == (ToolCall("call_1", "reed", "[1, 2]"), ToolCall("call_2", "read", '{"path": "a.p'))

    whole = {"id": "c", "type": "function", "function": {"name": "read", "arguments": {"path": "a.py"}}}
    server.says(reply({"tool_calls": [whole]}, finish="eos_token_x"))
    got = asked(child, server).complete(ASKED)
    assert (got.calls, got.finish) == ((ToolCall("c", "read", '{"path": "a.py"}'),), "stop")


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None}, {"prompt_tokens": -5, "completion_tokens": 10**12}, {"prompt_tokens": "12"}])
def test_a_usage_that_is_missing_or_nonsense_is_estimated_and_never_nothing(child: Child, server: ChatServer, usage: dict[str, int] | None) -> None:
    server.says(as_json(DIALECTS[0].said("one two three four", "stop") | {"usage": usage}))
    used = asked(child, server).complete(ASKED).usage
    assert 10 <= used.input < 200
    assert 1 <= used.output < 20


def test_nobody_there_and_no_such_host_are_waited_for(child: Child) -> None:
    for address in ("http://127.0.0.1:9/v1", "http://nowhere.invalid/v1"):
        error = failing(ClientModel(HERE, Endpoint(address, "FAKE_API_KEY"), child, limit=20.0))
        assert (error.kind, error.reason, error.code) == (Kind.WAIT, Reason.UNREACHABLE, Exit.UNAVAILABLE), error.message


def test_without_a_key_or_a_provider_nothing_is_sent(child: Child, server: ChatServer) -> None:
    server.says(text("hi"))
    for name, reason in [("openai/gpt-4o", Reason.NO_KEY), ("gemini/gemini-2.5-pro", Reason.NO_KEY), ("nowhere/x", Reason.UNKNOWN_MODEL)]:
        error = failing(ClientModel(name, Endpoint(), child))
        assert (error.kind, error.reason) == (Kind.STOP, reason)
    assert server.requests == []


def test_claude_alone_is_told_what_to_cache(child: Child, server: ChatServer) -> None:
    for dialect in DIALECTS:
        server.says(as_json(dialect.said("ok", "stop")))
        assert asked(child, server, dialect).complete(ASKED).text == "ok"
        told = [json.dumps(sent.body).count('"cache_control"') for sent in server.requests]
        assert max(told) == (2 if dialect.model.startswith("anthropic/") else 0)
