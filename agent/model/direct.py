"""Calls to an endpoint that speaks OpenAI's chat completions, with nothing in between: such a step needs no litellm, whose loading takes seconds."""

from __future__ import annotations

import http.client
import json
import os
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import agent
from agent.domain.chat import ToolCall
from agent.domain.shape import parsed
from agent.model import wire
from agent.model.caller import NO_KEY_NEEDED, Completion, fault, is_near, key_is_unset, told, tool_call
from agent.model.errors import Facts, Origin
from agent.model.faults import answered, clean

_KEY = "OPENAI_API_KEY"
_FINISHES = frozenset({"stop", "length", "tool_calls", "content_filter"})
_BEFORE = (ConnectionRefusedError, socket.gaierror, ssl.SSLCertVerificationError)  # nothing was sent yet


class _Failed(Exception):  # noqa: N818  # what failed is in the facts
    def __init__(self, facts: Facts) -> None:
        super().__init__(facts.words)
        self.facts = facts


class Direct:
    """A caller of POST {api_base}/chat/completions (https://platform.openai.com/docs/api-reference/chat/create), unstreamed."""

    def keep_quiet(self) -> None:
        """No library is asked."""

    def check(self, request: Mapping[str, Any]) -> wire.Json:
        return {"fine": True} if _key(request) else fault(request, Facts(Origin.NO_KEY), (_KEY,))

    def complete(self, request: Mapping[str, Any]) -> wire.Json:
        key = _key(request)
        if not key:
            return fault(request, Facts(Origin.NO_KEY), (_KEY,))
        began = time.monotonic()
        try:
            came = _completion(_post(request, key))
        except _Failed as failed:
            return fault(request, failed.facts, (_KEY,), key)
        return told(request, came, time.monotonic() - began, lambda _: None)


def _key(request: Mapping[str, Any]) -> str:
    """The key to send: out of the person's variable, else out of OpenAI's own, else a stopgap for local servers."""
    if request["key_env"]:
        return "" if key_is_unset(request) else os.environ[request["key_env"]]
    return os.environ.get(_KEY, "") or (NO_KEY_NEEDED if is_near(request["api_base"]) else "")


class _Staying(urllib.request.HTTPRedirectHandler):
    """Follows nothing: whoever it leads to would get the key."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _post(request: Mapping[str, Any], key: str) -> str:
    """The body of the answer, if it is no error. Raises _Failed."""
    if urlsplit(request["api_base"]).scheme not in {"http", "https"}:
        raise _Failed(Facts(Origin.CONNECTION, "its address begins neither with http:// nor with https://", sent=False))
    try:
        with urllib.request.build_opener(_Staying).open(_request(request, key), timeout=request["timeout"]) as response:
            return str(response.read().decode("utf-8", "replace"))
    except urllib.error.HTTPError as error:
        raise _Failed(answered(error.code, {name.lower(): value for name, value in error.headers.items()}, _body(error))) from None
    except urllib.error.URLError as error:
        raise _Failed(_unsaid(error.reason if isinstance(error.reason, Exception) else error)) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _Failed(_unsaid(error)) from None


def _request(request: Mapping[str, Any], key: str) -> urllib.request.Request:
    name = request["model"].partition("/")[2]
    tools = {"tools": request["tools"]} if request["tools"] else {}
    body = {"model": name, "messages": request["messages"], **tools, "max_tokens": request["max_output"]}
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}", "User-Agent": f"agentctl/{agent.__version__}"}
    return urllib.request.Request(f"{request['api_base'].rstrip('/')}/chat/completions", json.dumps(body).encode(), headers)  # noqa: S310  # the scheme was looked at


def _body(error: urllib.error.HTTPError) -> str:
    try:
        return error.read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        return ""


def _unsaid(error: Exception) -> Facts:
    """Nothing was answered, or not to its end."""
    if isinstance(error, TimeoutError):
        return Facts(Origin.TIMEOUT)
    words = str(error) or type(error).__name__
    return Facts(Origin.CONNECTION, clean(words), sent=not isinstance(error, (*_BEFORE, http.client.InvalidURL)))


def _completion(text: str) -> Completion:
    """The completion in an answer's body. Raises _Failed where it is none."""
    try:
        body = parsed(text)
        return _read(body) if isinstance(body, Mapping) else _unreadable()
    except (ValueError, TypeError, RecursionError):
        return _unreadable()


def _read(body: Mapping[str, Any]) -> Completion:
    if "choices" not in body and body.get("error"):  # a router says so with status 200
        inner = body["error"]
        code = inner.get("code") if isinstance(inner, Mapping) else None
        raise _Failed(answered(code if isinstance(code, int) and code in range(400, 600) else 500, {}, json.dumps(body)))
    choices = _a(list, body.get("choices"))
    choice = _a(dict, choices[0]) if choices else {}
    message = _a(dict, choice.get("message")) if choice else {}
    calls = tuple(_call(one) for one in _a(list, message.get("tool_calls") or []))
    finish = choice.get("finish_reason")
    return Completion(_text(message.get("content")), calls, finish if finish in _FINISHES else "", _counts(body.get("usage")))


def _unreadable() -> Completion:
    raise _Failed(Facts(Origin.LIBRARY))


def _a(kind: type[Any], value: object) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _text(content: object) -> str:
    """A message's text, which may come in parts."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))
    return _a(str, content or "")  # type: ignore[no-any-return]


def _call(call: object) -> ToolCall:
    function = _a(dict, _a(dict, call).get("function"))
    args = function.get("arguments")
    written = args if isinstance(args, str | None) else json.dumps(args)
    return tool_call(_a(str, _a(dict, call).get("id") or ""), _a(str, function.get("name") or ""), written)


def _counts(usage: object) -> SimpleNamespace:
    """The counts as attributes, those of the details too."""
    given = usage if isinstance(usage, dict) else {}
    return SimpleNamespace(**{name: _counts(value) if isinstance(value, dict) else value for name, value in given.items()})
