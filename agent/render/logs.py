"""What happens as one JSON object a line, for a log collector. Documented in docs/logs.md; stable."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import IO, Any

from msgspec import to_builtins

from agent.domain.events import Called, Event, Looked, Phase, StepBegan, StepEnded
from agent.domain.redact import redact
from agent.domain.text import left_out, plain
from agent.domain.usage import NOTHING
from agent.errors import AgentctlError
from agent.render.data import usage_data

_MOST = 32_768  # characters of one text; collectors cut or drop longer lines
_EVERYWHERE = ("step", "item", "name", "spent")  # what every line says anyhow


class Lines:
    """Turns events into lines, each with what was known by then. `memory` gives the patch that a commit made to `.agent/`.

    No line holds a key, or a control character that isn't escaped.
    """

    def __init__(self, memory: Callable[[str], str]) -> None:
        self._memory = memory
        self._about: dict[str, str | None] = {"step": None, "item": None, "phase": None}
        self._spent = NOTHING

    def line(self, event: Event) -> dict[str, Any] | None:
        """The line about `event`; None where it is worth none."""
        match event:
            case Looked():
                return None
            case StepBegan(step, item, _):
                self._about = {"step": step, "item": item, "phase": "begin"}
                self._spent = NOTHING
            case Phase(name, _):
                self._about["phase"] = name
            case Called(_, _, spent):
                self._spent = spent
            case _:
                pass
        told = {key: value for key, value in to_builtins(event).items() if key not in _EVERYWHERE}
        if isinstance(event, StepEnded):
            told["memory"] = self._memory(event.commit)
        return self._line(_snake(type(event).__name__), told)

    def error(self, error: AgentctlError) -> dict[str, Any]:
        """The line about what ends a command with an error."""
        return self._line("error", {"message": error.message, "hint": error.hint, "exit": int(error.code)})

    def _line(self, name: str, told: Mapping[str, Any]) -> dict[str, Any]:
        line = {"time": _now(), "event": name, "pid": os.getpid(), **self._about, "spent": usage_data(self._spent), **told}
        return {key: _safe(value) for key, value in line.items()}


def write_line(stream: IO[str], line: Mapping[str, Any] | None) -> None:
    """Write `line`, if there is one, as JSON in ASCII, and at once."""
    if line is not None:
        stream.write(json.dumps(line) + "\n")
        stream.flush()


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _now() -> str:
    """RFC 3339, UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _safe(value: Any) -> Any:
    """`value` without keys and raw control characters, long texts cut."""
    if isinstance(value, Mapping):
        return {key: _safe(inner) for key, inner in value.items()}
    if not isinstance(value, str):
        return value
    text = plain(redact(value, os.environ))
    return text if len(text) <= _MOST else f"{text[:_MOST]}{left_out(f'{len(text) - _MOST} characters')}"
