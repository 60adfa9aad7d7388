"""Ends agentctl by SIGKILL at random moments, its whole process group with it, and starts it again until the list is worked off.

It doesn't import agentctl. As a command: `python -m tests.kill.driver 10000 [SEED]`.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.kill.world import PATIENCE, Outcome, World

_DONE = (0, 3)  # worked off, and nothing left
_WIDER = 40  # starts after which the moments of kills are drawn from twice the time
_STARTS = 400  # of one list; more would mean that it never ends


@dataclass
class Tally:
    """What happened."""

    kills: int = 0
    lists: int = 0
    starts: int = 0
    faults: list[str] = field(default_factory=list)


def undisturbed(folder: Path) -> tuple[Outcome, float]:
    """What a run that nobody disturbs ends in, and how long it takes in seconds."""
    world = World(folder)
    began = time.monotonic()
    code, said = world.run("run")
    if code != 0:
        raise AssertionError(said)
    faults = [*world.untouched(), *world.unsound(), *world.leftovers(), *world.money()]
    if faults:
        raise AssertionError(faults)
    return world.outcome(), time.monotonic() - began


def one_list(world: World, wanted: Outcome, window: float, chance: random.Random, tally: Tally, most: int) -> None:
    """Work off one list with kills, at most `most` of them; then it is let be."""
    tally.lists += 1
    for number in range(_STARTS):
        tally.starts += 1
        wider = 1 + number / _WIDER  # on a machine that has become slower, no start would come further than the last one
        ended = _start(world, chance.uniform(0, window * wider) if tally.kills < most else None)
        if ended is None:
            tally.kills += 1
        elif ended[0] not in _DONE:
            tally.faults.append(f"exit {ended[0]}: {ended[1]}")
            return
        tally.faults += world.untouched()
        if tally.kills % 10 == 0:
            tally.faults += world.unsound()
        if tally.faults or (ended is not None and ended[0] in _DONE):
            break
    else:
        tally.faults.append(f"the list was not worked off in {_STARTS} starts")
    if tally.faults:
        return
    if world.outcome() != wanted:
        tally.faults.append(f"another outcome: {world.outcome()} instead of {wanted}")
    tally.faults += [*world.unsound(), *world.leftovers(), *world.money()]


def _start(world: World, until: float | None) -> tuple[int, str] | None:
    """Start a run, and kill its whole group after `until` seconds; its exit code and what it said, None where it was killed."""
    started = world.start("run")
    try:
        code = started.wait(PATIENCE if until is None else until)
    except subprocess.TimeoutExpired:
        started.kill()
        code = started.wait(PATIENCE)
    said = started.printed()[1]
    return None if code == -signal.SIGKILL else (code, said)


def killed(kills: int, seed: int, folder: Path, wanted: Outcome, seconds: float) -> Iterator[Tally]:
    """Lists with `kills` kills in all, which are to end as the `undisturbed` one; the tally after each list. Ends at the first fault."""
    chance = random.Random(seed)  # noqa: S311 - the same moments again for the same seed
    tally = Tally()
    while tally.kills < kills and not tally.faults:
        place = folder / f"list-{tally.lists}"
        one_list(World(place), wanted, seconds * chance.choice((0.3, 0.6, 1.0)), chance, tally, kills)
        yield tally
        if not tally.faults:
            subprocess.run(["rm", "-rf", str(place)], check=True)


def main() -> int:
    kills, seed = int(sys.argv[1]), int([*sys.argv, "1"][2])
    folder = Path(tempfile.mkdtemp(prefix="agentctl-kill-"))
    began = time.monotonic()
    tally = Tally()
    for tally in killed(kills, seed, folder, *undisturbed(folder / "undisturbed")):
        sys.stderr.write(f"{tally.kills} kills, {tally.lists} lists, {tally.starts} starts, {time.monotonic() - began:.0f} s\n")
    for fault in tally.faults:
        sys.stdout.write(f"FAULT (seed {seed}, {folder}): {fault}\n")
    sys.stdout.write(f"{tally.kills} kills in {tally.lists} lists: {len(tally.faults)} faults\n")
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
