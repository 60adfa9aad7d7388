"""What happens during a step, told as it happens to whoever watches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent.domain.usage import Usage


@dataclass(frozen=True)
class Phase:
    """A new phase of the step began, such as "brief", "work", "gate" or "commit"."""

    name: str
    detail: str = ""


@dataclass(frozen=True)
class Called:
    """The model answered; `spent` is the step's total so far."""

    number: int
    usage: Usage
    spent: Usage


@dataclass(frozen=True)
class Said:
    """The model said something beside its tool calls."""

    text: str


@dataclass(frozen=True)
class ToolBegan:
    """A tool call is about to run; `brief` is one line about it, safe to show."""

    tool: str
    brief: str


@dataclass(frozen=True)
class ToolEnded:
    """It ran; `result` is one line, safe to show."""

    tool: str
    ok: bool
    result: str
    seconds: float


@dataclass(frozen=True)
class CheckEnded:
    """One check of the gate ran."""

    command: str
    ok: bool
    summary: str
    seconds: float


@dataclass(frozen=True)
class Waiting:
    """The model can't be reached now, for the reason `why`; it is asked again after `seconds`."""

    seconds: float
    why: str


Event = Phase | Called | Said | ToolBegan | ToolEnded | CheckEnded | Waiting
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """The listener of whoever doesn't watch."""
