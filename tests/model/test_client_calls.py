"""Calls by the real process, through the real litellm or without it, against a loopback server."""

from __future__ import annotations

import json
import socket

import pytest
from msgspec.structs import replace

from agent.domain.chat import Message, Request, ToolCall
from agent.errors import Exit
from agent.model import price
from agent.model.client import Child, ClientModel
from agent.model.errors import Kind, ModelError, Reason
from agent.model.protocol import Endpoint
from agent.model.tokens import count
from tests.model.chat_server import ChatServer, as_json, calls, fault, reply, slow, text
from tests.model.conftest import ASKED, KEY, OTHER_KEY

CASE_71 = {
    "prompt_tokens": 2006,
    "completion_tokens": 300,
    "total_tokens": 2306,
    "prompt_tokens_details": {"cached_tokens": 1920},
    "completion_tokens_details": {"reasoning_tokens": 250},
}


def model(child: Child, server: ChatServer, name: str = "openai/local", *, limit: float = 30.0, key_env: str | None = None) -> ClientModel:
    base = server.url.removesuffix("/v1") if name.startswith("anthropic/") else server.url
    return ClientModel(name, Endpoint(api_base=base, key_env=key_env), child, limit=limit)


def failing(asked: ClientModel) -> ModelError:
    with pytest.raises(ModelError) as caught:
        asked.complete(ASKED)
    return caught.value


def test_a_tool_call_and_its_answer_make_the_round_trip(either: Child, server: ChatServer) -> None:
    server.says(calls(("read", {"path": "a.py"}), said="Look first."), text("Done."))
    asked = model(either, server)
    first = asked.complete(ASKED)
    assert (first.text, first.calls, first.finish) == ("Look first.", (ToolCall("call_1", "read", '{"path": "a.py"}'),), "tool_calls")

    more = (Message("assistant", first.text, first.calls), Message("tool", "print()\n", call_id="call_1"))
    second = asked.complete(replace(ASKED, messages=ASKED.messages + more))
    assert (second.text, second.calls, second.finish) == ("Done.", (), "stop")

    body = server.requests[1].body
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "tool"]
    assert body["messages"][2]["tool_calls"][0]["function"] == {"name": "read", "arguments": '{"path": "a.py"}'}
    assert body["messages"][3] == {"role": "tool", "tool_call_id": "call_1", "content": "print()\n"}
    assert body["tools"][0]["function"]["name"] == "read"
    assert body["max_tokens"] == 500
    assert not body.get("stream")


def test_broken_arguments_arrive_as_they_were_written(either: Child, server: ChatServer) -> None:
    server.says(calls(("write", '{"path": "a.py", "conten'), finish="length"))
    cut = model(either, server).complete(ASKED)
    assert (cut.calls[0].args, cut.finish) == ('{"path": "a.py", "conten', "length")


def test_a_reply_as_long_as_allowed_counts_as_cut_off_whatever_the_server_says(either: Child, server: ChatServer) -> None:
    server.says(calls(("write", '{"path": "a.py", "conten'), usage={"prompt_tokens": 9, "completion_tokens": 500, "total_tokens": 509}))
    assert model(either, server).complete(ASKED).finish == "length"


def test_calls_without_ids_or_arguments_get_some(either: Child, server: ChatServer) -> None:
    bare = {"id": None, "type": "function", "function": {"name": "list", "arguments": None}}
    server.says(reply({"tool_calls": [bare, bare]}, finish="tool_calls"))
    one, other = model(either, server).complete(ASKED).calls
    assert one.id
    assert one.id != other.id
    assert one.args == "{}"


def test_half_characters_and_special_tokens_in_a_text_do_no_harm(either: Child, server: ChatServer) -> None:
    server.says(text("<|endoftext|> ok"))
    asked = Request((Message("user", "EOT = '<|endoftext|>' \udcff ü"),), (), 100)
    assert model(either, server).complete(asked).text == "<|endoftext|> ok"
    assert server.requests[0].body["messages"][0]["content"] == "EOT = '<|endoftext|>' ? ü"


def test_a_conversation_of_megabytes_goes_through_the_pipe(either: Child, server: ChatServer) -> None:
    server.says(text("b" * 2_000_000))
    long = "a" * 3_000_000
    assert len(model(either, server).complete(Request((Message("user", long),), (), 100)).text) == 2_000_000
    assert server.requests[0].body["messages"][0]["content"] == long


def test_cached_tokens_are_charged_once_and_reasoning_not_again(child: Child, server: ChatServer) -> None:
    server.says(text("hi", usage=CASE_71))
    used = model(child, server, "openai/gpt-4o-2024-08-06").complete(ASKED).usage
    assert (used.input, used.cached, used.output, used.usd) == (2006, 1920, 300, 0.005615)
    assert 0 < used.seconds < 30


def test_more_cached_than_sent_is_taken_for_all_of_it(child: Child, server: ChatServer) -> None:
    server.says(text("hi", usage=CASE_71 | {"prompt_tokens_details": {"cached_tokens": 3000}}))
    used = model(child, server, "openai/gpt-4o-2024-08-06").complete(ASKED).usage
    assert (used.input, used.cached) == (2006, 2006)
    assert used.usd == pytest.approx(2006 * 1.25e-6 + 300 * 10e-6)


def test_a_model_without_a_price_costs_an_unknown_amount_and_not_zero(either: Child, server: ChatServer) -> None:
    server.says(text("hi"))
    asked = model(either, server, "openai/my-local-thing")
    assert asked.complete(ASKED).usage.usd is None
    assert asked.price is None
    assert asked.limits == price.CAREFUL


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        {"prompt_tokens": -5, "completion_tokens": 10**12, "total_tokens": 3},
        {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    ],
)
def test_missing_or_impossible_usage_is_estimated(child: Child, server: ChatServer, usage: dict[str, int] | None) -> None:
    body = json.loads(text("one two three four").body) | {"usage": usage}
    server.says(as_json(body))
    got = model(child, server, "openai/gpt-4o").complete(ASKED)
    assert 20 < got.usage.input < 200
    assert got.usage.output == count("one two three four")
    assert got.usage.usd
    assert got.finish == "stop"


def test_a_claude_is_told_what_to_cache_and_its_cache_is_charged_once(child: Child, server: ChatServer) -> None:
    usage = {"input_tokens": 100, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 200, "output_tokens": 50}
    content = [{"type": "text", "text": "Ok."}, {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a.py"}}]
    body = {"id": "m", "type": "message", "role": "assistant", "model": "c", "content": content, "stop_reason": "tool_use", "usage": usage}
    server.says(as_json(body))
    got = model(child, server, "anthropic/claude-sonnet-4-5", key_env="FAKE_API_KEY").complete(ASKED)
    assert (got.text, got.calls[0].name, json.loads(got.calls[0].args), got.finish) == ("Ok.", "read", {"path": "a.py"}, "tool_calls")
    assert (got.usage.input, got.usage.cached, got.usage.output) == (1300, 1000, 50)
    assert got.usage.usd == pytest.approx((100 * 3 + 1000 * 0.3 + 200 * 3.75 + 50 * 15) / 1e6)
    sent = server.requests[0]
    assert sent.headers["x-api-key"] == KEY
    assert json.dumps(sent.body).count('"cache_control"') == 2


def test_the_named_variable_holds_the_key_and_local_servers_need_none(either: Child, server: ChatServer) -> None:
    server.says(text("hi"))
    model(either, server, key_env="FAKE_API_KEY").complete(ASKED)
    model(either, server).complete(ASKED)
    assert [sent.headers["authorization"] for sent in server.requests] == [f"Bearer {KEY}", "Bearer none"]


def test_an_answer_that_says_nothing_still_costs(child: Child, server: ChatServer) -> None:
    server.says(reply({}, usage=CASE_71))
    assert failing(model(child, server, "openai/gpt-4o-2024-08-06")).spent.usd == 0.005615


def test_nothing_but_thoughts_up_to_the_limit_is_a_cut_off_reply(either: Child, server: ChatServer) -> None:
    server.says(reply({}, finish="length"))
    got = model(either, server).complete(ASKED)
    assert (got.text, got.calls, got.finish) == ("", (), "length")


def test_a_slow_server_is_left_after_the_limit(either: Child, server: ChatServer) -> None:
    server.says(slow(text("x"), 5.0))
    error = failing(model(either, server, limit=0.4))
    assert (error.reason, error.kind, error.code, len(server.requests)) == (Reason.TIMEOUT, Kind.WAIT, Exit.UNAVAILABLE, 1)
    assert "0.4 s" in error.message


def test_a_refused_connection_says_where(either: Child) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        error = failing(ClientModel("openai/local", Endpoint(api_base=address), either))
    assert (error.reason, error.kind, error.code) == (Reason.UNREACHABLE, Kind.WAIT, Exit.UNAVAILABLE)
    assert error.message == f"openai/local cannot be reached at {address}: Connection refused"


def test_a_missing_key_is_one_sentence_and_what_to_type(child: Child) -> None:
    for name, variable in [("openai/gpt-4o", "OPENAI_API_KEY"), ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY")]:
        error = failing(ClientModel(name, Endpoint(), child))
        assert (error.reason, error.kind, error.code) == (Reason.NO_KEY, Kind.STOP, Exit.ERROR)
        assert error.message == f"there is no key for {name}: {variable} is not set"
        assert error.hint.startswith(f"export {variable}=")


def test_a_key_variable_that_is_unset_or_empty_is_named_and_nothing_is_sent(either: Child, server: ChatServer) -> None:
    server.says(text("hi"))
    for variable in ("NOT_THERE_KEY", "EMPTY_KEY"):
        error = failing(model(either, server, key_env=variable))
        assert error.reason is Reason.NO_KEY
        assert variable in error.message
    assert server.requests == []


@pytest.mark.parametrize("name", ["gpt-5.3-hihg", "nowhere/some-model", "öpenai/x", ""])
def test_a_name_without_a_provider_is_told_before_anything_is_sent(child: Child, name: str) -> None:
    error = failing(ClientModel(name, Endpoint(), child))
    assert (error.reason, error.kind, error.code) == (Reason.UNKNOWN_MODEL, Kind.STOP, Exit.ERROR)
    assert name in error.message
    assert "agentctl step --model NAME" in error.hint


def test_check_knows_without_a_call(child: Child, server: ChatServer) -> None:
    server.says(text("hi"))
    model(child, server).check()
    model(child, server, key_env="FAKE_API_KEY").check()
    for bad, reason in [
        (ClientModel("openai/gpt-4o", Endpoint(), child), Reason.NO_KEY),
        (ClientModel("nowhere/x", Endpoint(), child), Reason.UNKNOWN_MODEL),
        (model(child, server, key_env="NOT_THERE_KEY"), Reason.NO_KEY),
    ]:
        with pytest.raises(ModelError) as caught:
            bad.check()
        assert caught.value.reason is reason
    assert server.requests == []


def test_a_key_in_a_providers_words_is_never_shown(either: Child, server: ChatServer) -> None:
    words = f"429 for url 'https://api.example.invalid/v1?key={KEY}' with Bearer {KEY} and {OTHER_KEY} and sk-proj-abcdefgh1234"
    for status in (401, 429, 500):
        server.says(fault(status, words))
        error = failing(model(either, server, key_env="FAKE_API_KEY"))
        shown = f"{error} {error.message} {error.hint} {error!r}"
        assert "[redacted]" in shown
        for secret in (KEY, "0123456789abcdef", OTHER_KEY, "abcdefgh1234"):
            assert secret not in shown


def test_the_words_of_the_provider_are_cut_short(either: Child, server: ChatServer) -> None:
    server.says(fault(400, "blah " * 2000))
    assert len(failing(model(either, server)).message) < 320
