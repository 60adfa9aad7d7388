"""A loopback HTTP server that speaks the chat-completions protocol, with answers set by the test.

    with ChatServer() as server:
        server.says(calls(("read", {"path": "a.py"})), text("Done."))
        open_model("openai/any", endpoint=Endpoint(api_base=server.url), ...)
        assert server.requests[0].body["messages"][0]["role"] == "system"

Answers are given in order; the last one stands for all later requests too. `disturb` puts faults between them.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Json = dict[str, Any]


@dataclass(frozen=True)
class Received:
    """One request as it came; header names are lower case."""

    path: str
    headers: Mapping[str, str]
    body: Json


@dataclass(frozen=True)
class Answer:
    """One response. `delay` in seconds before anything is sent; of the body only the first `sent` bytes go out, then the connection is reset."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    sent: int | None = None


def reply(message: Json, *, finish: str = "stop", usage: Json | None = None) -> Answer:
    """A whole chat completion around `message`."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "loopback",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": None} | message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15} if usage is None else usage,
    }
    return as_json(body)


def text(said: str, *, finish: str = "stop", usage: Json | None = None) -> Answer:
    """The model says something and calls no tool."""
    return reply({"content": said}, finish=finish, usage=usage)


def calls(*wanted: tuple[str, Json | str], said: str | None = None, finish: str = "tool_calls", usage: Json | None = None) -> Answer:
    """The model calls tools: (name, arguments), the arguments as an object or as raw text."""
    tool_calls = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": args if isinstance(args, str) else json.dumps(args)}}
        for number, (name, args) in enumerate(wanted, start=1)
    ]
    return reply({"content": said, "tool_calls": tool_calls}, finish=finish, usage=usage)


def as_json(body: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """Any JSON body."""
    return Answer(json.dumps(body).encode(), status, {"Content-Type": "application/json"} | dict(headers or {}))


def fault(status: int, message: str, *, code: str | None = None, headers: Mapping[str, str] | None = None) -> Answer:
    """An error in the shape of OpenAI's."""
    return as_json({"error": {"message": message, "type": "error", "param": None, "code": code}}, status, headers)


def slow(answer: Answer, seconds: float) -> Answer:
    """The same answer, later."""
    return replace(answer, delay=seconds)


def torn(answer: Answer, sent: int) -> Answer:
    """The same answer, but the connection is reset after `sent` bytes of the body; -1: before the status line."""
    return replace(answer, sent=sent)


class ChatServer:
    """Serves on a free port of 127.0.0.1 while the `with` block runs. `url` is the base address of the API."""

    def __init__(self) -> None:
        self.requests: list[Received] = []
        self._answers: list[Answer] = []
        self._faults: Iterator[Answer | None] = iter(())
        self.disturbed = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def says(self, *answers: Answer) -> None:
        """Forget what came and answer with these from now on."""
        with self._lock:
            self.requests.clear()
            self._answers = list(answers)

    def disturb(self, faults: Iterable[Answer | None]) -> None:
        """Before each answer ask `faults` for another one: what it gives is sent instead, and the answer waits for the next request; None: not now."""
        with self._lock:
            self._faults = iter(faults)

    def _take(self, received: Received) -> Answer:
        with self._lock:
            self.requests.append(received)
            fault = next(self._faults, None)
            if fault is not None:
                self.disturbed += 1
                return fault
            if not self._answers:
                return as_json({"error": {"message": "the test has set no answer"}}, 500)
            return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    def _wait(self, seconds: float) -> None:
        self._closing.wait(seconds)


def _handler(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length", "0"))
            body = json.loads(self.rfile.read(size) or b"{}")
            answer = server._take(Received(self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            server._wait(answer.delay)
            try:
                self._send(answer)
            except OSError:
                return  # the client has given up

        def _send(self, answer: Answer) -> None:
            if answer.sent == -1:
                return self._reset()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body if answer.sent is None else answer.body[: answer.sent])
            if answer.sent is not None:
                self.wfile.flush()
                time.sleep(0.05)  # lets the bytes arrive before the reset overtakes them
                self._reset()
            return None

        def _reset(self) -> None:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True

        def log_message(self, *_args: object) -> None: ...

    return Handler
