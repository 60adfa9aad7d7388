"""Whether what is at work in a work tree works, waits, hangs or is dead: by the lock, the heartbeat and the process."""

from __future__ import annotations

import os
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from agent.boot import boot_id
from agent.domain.pulse import Pulse, overdue
from agent.heartbeat import EVERY, read_heartbeat

_SILENCE = 6 * EVERY  # seconds without a beat; a busy machine beats late


class Alive(StrEnum):
    """`WAITING` is at no step and holds no lock; `STUCK` lives, and doesn't get on."""

    WORKING = "working"
    WAITING = "waiting"
    STUCK = "stuck"
    DEAD = "dead"


class Life(Struct, frozen=True):
    """A process that left a heartbeat. `why` and `mend` are empty unless it is stuck or dead."""

    alive: Alive
    pulse: Pulse
    why: str = ""
    mend: str = ""


def life(folder: Path, holder: int | None, now: datetime) -> Life | None:
    """What the heartbeat in `folder` says, where `holder` has the lock (None: nobody). None where there is none, or it is not the holder's."""
    pulse = read_heartbeat(folder)
    if pulse is None or holder not in (None, 0, pulse.pid):
        return None
    silent = (now - pulse.told).total_seconds() > _SILENCE
    if holder is None and (pulse.boot != boot_id() or silent or not _runs(pulse.pid)):
        return Life(Alive.DEAD, pulse, _how_it_died(pulse), "the next agentctl step or run picks up what it left")
    end = f"agentctl step goes on from there after: kill {pulse.pid}"
    if silent:
        return Life(
            Alive.STUCK, pulse, f"it has said nothing since {pulse.told:%H:%M:%S} UTC, as if it were stopped", f"kill -CONT {pulse.pid}; {end}"
        )
    if overdue(pulse, now):
        return Life(Alive.STUCK, pulse, f"that should have been over by {pulse.due:%H:%M:%S} UTC", end)
    return Life(Alive.WAITING if holder is None else Alive.WORKING, pulse)


def _how_it_died(pulse: Pulse) -> str:
    return "it ended with the machine, which was started again since" if pulse.boot != boot_id() else "it died without a word"


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
