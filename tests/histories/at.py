"""agentctl at a given moment: within this process, or as `python -m tests.histories.at MOMENT COMMAND…` in one of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import agent.cli.letters
import agent.cli.plan
import agent.cli.step
import agent.cli.todo
from agent.cli.main import run

_READERS = (agent.cli.letters, agent.cli.plan, agent.cli.step, agent.cli.todo)


@contextmanager
def clock_at(moment: datetime) -> Iterator[None]:
    """The commands' clock stands at `moment`."""
    kept = [module.__dict__["now"] for module in _READERS]
    for module in _READERS:
        module.__dict__["now"] = lambda: moment
    try:
        yield
    finally:
        for module, now in zip(_READERS, kept, strict=True):
            module.__dict__["now"] = now


if __name__ == "__main__":
    with clock_at(datetime.fromisoformat(sys.argv[1])):
        sys.exit(run(sys.argv[2:]))
