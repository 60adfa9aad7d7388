"""A loopback server that plays the model for any of the agents: each speaks one of three protocols, whole or as a stream of events.

An agent's base address ends in its name, `http://127.0.0.1:PORT/NAME/v1`. Its script is a list of acts, one a request: a text, or a tool's name
with its arguments. A request without tools, where the next act is a tool call, is for a title or a summary: it gets a text, and the act waits.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol, Self

Json = dict[str, Any]
Act = str | tuple[str, Json]
_TITLE = "Hello"


class Dialect(Protocol):
    """How one protocol says an act: as a whole body, and as named events of a stream; and what of a request is fixed, and what is its prompt."""

    def whole(self, act: Act, model: str) -> Json: ...
    def events(self, act: Act, model: str) -> Iterator[tuple[str, Json]]: ...
    def fixed(self, request: Json) -> list[object]: ...
    def prompt(self, request: Json) -> list[object]: ...


class Chat:
    """Chat completions, as OpenAI's API has them."""

    def whole(self, act: Act, model: str) -> Json:
        message: Json = {"role": "assistant", "content": act if isinstance(act, str) else None}
        if not isinstance(act, str):
            message["tool_calls"] = [_function_call(act)]
        choice = {"index": 0, "message": message, "finish_reason": "stop" if isinstance(act, str) else "tool_calls"}
        return {"id": "c1", "object": "chat.completion", "created": 1, "model": model, "choices": [choice], "usage": _CHAT_USAGE}

    def events(self, act: Act, model: str) -> Iterator[tuple[str, Json]]:
        said: Json = {"role": "assistant"} | ({"content": act} if isinstance(act, str) else {"tool_calls": [{"index": 0} | _function_call(act)]})
        chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": model}
        for delta, finish in ((said, None), ({}, "stop" if isinstance(act, str) else "tool_calls")):
            yield "", chunk | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        yield "", chunk | {"choices": [], "usage": _CHAT_USAGE}

    def fixed(self, request: Json) -> list[object]:
        return [*(one for one in request["messages"] if one["role"] in {"system", "developer"}), *request.get("tools", [])]

    def prompt(self, request: Json) -> list[object]:
        return [*request["messages"], *request.get("tools", [])]


class Responses:
    """OpenAI's responses API."""

    def whole(self, act: Act, model: str) -> Json:
        return {"id": "r1", "object": "response", "created_at": 1, "status": "completed", "model": model, "output": [_item(act)], "usage": _USAGE}

    def events(self, act: Act, model: str) -> Iterator[tuple[str, Json]]:
        whole, item = self.whole(act, model), _item(act)
        at: Json = {"output_index": 0, "item_id": item["id"]}
        begun = whole | {"status": "in_progress", "output": []}
        if isinstance(act, str):
            part = item["content"][0]
            opened, said = item | {"content": [], "status": "in_progress"}, at | {"content_index": 0}
            inner: list[tuple[str, Json]] = [
                ("content_part.added", said | {"part": part | {"text": ""}}),
                ("output_text.delta", said | {"delta": act}),
                ("output_text.done", said | {"text": act}),
                ("content_part.done", said | {"part": part}),
            ]
        else:
            opened = item | {"arguments": "", "status": "in_progress"}
            inner = [
                ("function_call_arguments.delta", at | {"delta": item["arguments"]}),
                ("function_call_arguments.done", at | {"arguments": item["arguments"]}),
            ]
        events: list[tuple[str, Json]] = [
            ("created", {"response": begun}), ("output_item.added", {"output_index": 0, "item": opened}), *inner,
            ("output_item.done", {"output_index": 0, "item": item}), ("completed", {"response": whole}),
        ]  # fmt: skip
        for number, (kind, event) in enumerate(events):
            yield f"response.{kind}", event | {"type": f"response.{kind}", "sequence_number": number}

    def fixed(self, request: Json) -> list[object]:
        told = [one for one in request["input"] if isinstance(one, dict) and one.get("role") in {"developer", "system"}]
        return [request.get("instructions", ""), *told, *request.get("tools", [])]

    def prompt(self, request: Json) -> list[object]:
        return [request.get("instructions", ""), *request["input"], *request.get("tools", [])]


class Messages:
    """Anthropic's messages API."""

    def whole(self, act: Act, model: str) -> Json:
        block, stop = _block(act), "end_turn" if isinstance(act, str) else "tool_use"
        return {
            "id": "m1", "type": "message", "role": "assistant", "model": model, "content": [block],
            "stop_reason": stop, "stop_sequence": None, "usage": _USAGE,
        }  # fmt: skip

    def events(self, act: Act, model: str) -> Iterator[tuple[str, Json]]:
        whole = self.whole(act, model)
        block = whole["content"][0]
        if isinstance(act, str):
            begun, delta = block | {"text": ""}, {"type": "text_delta", "text": act}
        else:
            begun, delta = block | {"input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(act[1])}
        stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        for event in (
            {"type": "message_start", "message": whole | {"content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": begun},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 20}},
            {"type": "message_stop"},
        ):
            yield str(event["type"]), event

    def fixed(self, request: Json) -> list[object]:
        return [request.get("system", ""), *request.get("tools", [])]

    def prompt(self, request: Json) -> list[object]:
        return [*self.fixed(request), *request["messages"]]


_CHAT_USAGE = {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020}
_USAGE = {"input_tokens": 1000, "output_tokens": 20, "total_tokens": 1020}
_DIALECTS: dict[str, Dialect] = {"/chat/completions": Chat(), "/responses": Responses(), "/messages": Messages()}


def _function_call(act: tuple[str, Json]) -> Json:
    return {"id": "call_1", "type": "function", "function": {"name": act[0], "arguments": json.dumps(act[1])}}


def _item(act: Act) -> Json:
    if isinstance(act, str):
        text = {"type": "output_text", "text": act, "annotations": []}
        return {"type": "message", "id": "i1", "role": "assistant", "status": "completed", "content": [text]}
    return {"type": "function_call", "id": "i1", "call_id": "call_1", "name": act[0], "arguments": json.dumps(act[1]), "status": "completed"}


def _block(act: Act) -> Json:
    return {"type": "text", "text": act} if isinstance(act, str) else {"type": "tool_use", "id": "toolu_1", "name": act[0], "input": act[1]}


@dataclass
class Heard:
    """What an agent has asked since its script began: the requests, each with its dialect, and how many acts were given."""

    script: Sequence[Act] = ()
    requests: list[tuple[Dialect, Json]] = field(default_factory=list)
    given: int = 0

    def next(self, dialect: Dialect, request: Json) -> Act:
        """The act that answers `request`: the last one stands for all that come after it."""
        self.requests.append((dialect, request))
        act = self.script[min(self.given, len(self.script) - 1)]
        if not isinstance(act, str) and not request.get("tools"):
            return _TITLE
        self.given += 1
        return act


class PeerServer:
    """Serves on a free port of 127.0.0.1 while the `with` block runs."""

    def __init__(self) -> None:
        self.heard: dict[str, Heard] = {}
        self.lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)

    def address(self, name: str) -> str:
        """The base address of the API for the agent `name`, without the version."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/{name}"

    def begin(self, name: str, script: Sequence[Act]) -> None:
        """Let the agent `name` begin its script."""
        with self.lock:
            self.heard[name] = Heard(script)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._http.shutdown()
        self._http.server_close()


def _handler(server: PeerServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send(b'{"object":"list","data":[]}', "application/json")

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))) or b"{}")
            path = self.path.partition("?")[0]
            name = path.strip("/").partition("/")[0]
            dialect = next((one for ending, one in _DIALECTS.items() if path.endswith(ending)), None)
            if dialect is None or name not in server.heard:
                return self._send(b"{}", "application/json")
            with server.lock:
                act = server.heard[name].next(dialect, body)
            model = str(body.get("model", ""))
            if not body.get("stream"):
                return self._send(json.dumps(dialect.whole(act, model)).encode(), "application/json")
            lines = [f"event: {kind}\n" * bool(kind) + f"data: {json.dumps(event)}\n\n" for kind, event in dialect.events(act, model)]
            lines += ["data: [DONE]\n\n"] * (not isinstance(dialect, Messages))
            return self._send("".join(lines).encode(), "text/event-stream")

        def _send(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: object) -> None: ...

    return Handler
