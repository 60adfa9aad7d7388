"""Where a process stands: what it is doing, since when, and how long that may take. Each event moves it on."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from msgspec import convert, to_builtins
from msgspec.structs import replace

from agent.domain.events import (
    Asking,
    Called,
    CheckBegan,
    CheckEnded,
    Event,
    Idle,
    Looked,
    Phase,
    RunEnded,
    Said,
    StepBegan,
    StepEnded,
    ToolBegan,
    ToolEnded,
    Waiting,
)
from agent.domain.shape import MOMENT, Count, Quantity, Stored, parsed

BETWEEN = 600.0
"""Seconds between two events, where nothing that has a limit of its own runs: git's work on a large repository."""

IDLE = "idle"
"""The phase in which no step is under way and nobody holds the lock."""

_AGES = 10.0**9  # seconds; what may take longer is told as this, since a calendar holds no more than some thousand years
_GRACE = 60.0  # seconds beyond a command's own limit, to end it and all that it started on a busy machine
_HOOKS = 3600.0  # seconds; a repository's own hooks may run all its tests at a commit
_LONG = {"commit": _HOOKS, "put back": _HOOKS}


class Pulse(Stored, frozen=True):
    """Of process `pid` on the machine's start `boot`. Times are UTC; `doing` began at `since`, and is over by `due` unless it hangs.

    `asking` is what the last model call may take; `called` is when the last model call ended, `calls` how many the step has made, `usd` what it has spent (None: unknown); `told` is when this was written.
    """

    pid: Count
    boot: str
    since: datetime
    due: datetime
    told: datetime
    step: str = ""
    item: str = ""
    phase: str = "starting"
    doing: str = ""
    asking: Quantity = BETWEEN
    calls: Count = 0
    called: datetime | None = None
    usd: Quantity | None = 0.0


def moved(pulse: Pulse, event: Event, now: datetime) -> Pulse:  # noqa: C901 - one case for each event
    """`pulse` after `event`, which happened at `now`. What an event says is safe to show."""

    def within(seconds: float) -> datetime:
        return now + timedelta(seconds=min(seconds, _AGES))

    own = replace(pulse, since=now, told=now, due=within(BETWEEN))
    match event:
        case StepBegan(step, item, _):
            own = replace(own, step=step, item=item, phase="begin", doing="", calls=0, called=None, usd=0.0)
        case Phase(name, _):
            own = replace(own, phase=name, doing="", due=within(_LONG.get(name, BETWEEN)))
        case Asking(number, limit):
            own = replace(own, doing=f"model call {number}", due=within(limit), asking=limit)
        case Called(number, _, spent):
            own = replace(own, doing="", calls=number, called=now, usd=spent.usd)
        case ToolBegan(tool, brief, limit):
            own = replace(own, doing=f"{tool} {brief}".strip(), due=within(limit + _GRACE))
        case CheckBegan(command, limit):
            own = replace(own, doing=command, due=within(limit + _GRACE))
        case Waiting(seconds, why):  # and then it asks again
            own = replace(own, doing=f"waiting {seconds:.0f} s: {why}", due=within(seconds + pulse.asking))
        case Idle(why, _):
            own = replace(own, step="", item="", phase=IDLE, doing=why)
        case Looked():
            own = replace(own, since=pulse.since)
        case ToolEnded() | CheckEnded():
            own = replace(own, doing="")
        case StepEnded() | RunEnded():
            own = replace(own, phase="ended", doing="")
        case Said():
            pass
    return own


def overdue(pulse: Pulse, now: datetime) -> bool:
    """Whether what `pulse` is doing takes longer than it can without hanging."""
    return now > pulse.due


def render_pulse(pulse: Pulse) -> str:
    """One JSON object."""
    return json.dumps(to_builtins(pulse, builtin_types=(datetime,)), default=_text, ensure_ascii=False)


def parse_pulse(text: str) -> Pulse:
    """What `render_pulse` wrote. Raises ValueError for anything else."""
    pulse = convert(parsed(text), Pulse)
    if pulse.pid < 1:
        raise ValueError("no process has that number")
    if any(when.tzinfo is not UTC for when in (pulse.since, pulse.due, pulse.told, pulse.called or pulse.told)):
        raise ValueError("a moment that isn't in UTC")
    return pulse


def time_text(when: datetime) -> str:
    """RFC 3339, in UTC, to the second."""
    return when.astimezone(UTC).strftime(MOMENT)


def _text(when: object) -> str:
    if not isinstance(when, datetime):
        raise TypeError(when)
    return time_text(when)
