"""What each way to confine commands keeps them from on this machine, seen by trying."""

from __future__ import annotations

from msgspec import Struct

from agent.worker.sandbox.choice import mechanisms, tried
from agent.worker.sandbox.protocol import Attempt


class Surveyed(Struct, frozen=True):
    """One mechanism. `missing` says why it can't be used, "" where it can; then `held` is what it keeps commands from, and `open` what not."""

    name: str
    told: str
    missing: str
    held: tuple[Attempt, ...] = ()
    open: tuple[Attempt, ...] = ()


def survey() -> tuple[Surveyed, ...]:
    """All mechanisms, the best first."""
    found = []
    for sandbox in mechanisms():
        missing = sandbox.absent() or tried(sandbox.name).trouble
        if missing:
            found.append(Surveyed(sandbox.name, sandbox.name, missing))
            continue
        trial = tried(sandbox.name)
        found.append(Surveyed(sandbox.name, sandbox.told, "", trial.held, tuple(attempt for attempt in Attempt if attempt in trial.open)))
    return tuple(found)
