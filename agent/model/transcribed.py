"""A model whose conversation is written down as it goes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import asdict

from agent.domain.chat import Message, Reply, Request, ToolCall
from agent.domain.redact import redact
from agent.model.errors import ModelError
from agent.model.protocol import Around, Model


class TranscribedModel(Around):
    """`model`, and `write` is told what is said: the messages that a request is the first to hold, replies, and errors. Keys are taken out."""

    def __init__(self, model: Model, write: Callable[[Sequence[Mapping[str, Any]]], None]) -> None:
        super().__init__(model)
        self._write = write
        self._known: Counter[Message] = Counter()

    def complete(self, request: Request) -> Reply:
        self._write(
            [_line("message", role=message.role, text=message.text, calls=message.calls, call_id=message.call_id) for message in self._new(request)]
        )
        try:
            reply = self._model.complete(request)
        except ModelError as error:
            self._write([_line("error", text=error.message)])
            raise
        self._write([_line("reply", text=reply.text, calls=reply.calls, usage=asdict(reply.usage), finish=reply.finish)])
        for calls in {(), reply.calls}:  # as the next request has it, where it keeps the calls and where it doesn't
            self._known[Message("assistant", reply.text, calls)] += 1
        return reply

    def _new(self, request: Request) -> list[Message]:
        """The messages that no request held before. One that was shortened since is new."""
        known, new = self._known.copy(), []
        for message in request.messages:
            if known[message] > 0:
                known[message] -= 1
            else:
                new.append(message)
        self._known.update(new)
        return new


def _line(kind: str, **told: Any) -> dict[str, Any]:
    return {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "kind": kind,
        **{key: _safe(value) for key, value in told.items()},
    }


def _safe(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value, os.environ)
    if isinstance(value, ToolCall):
        return {"id": value.id, "name": value.name, "args": redact(value.args, os.environ)}
    return [_safe(one) for one in value] if isinstance(value, tuple) else value
