"""Ends agentctl, or a git that it started, by SIGKILL at each mutating system call, one run for each, and starts it again.

It doesn't import agentctl. As a command: `python -m tests.kill.sweep [EVERY] [SCENARIO …]`: every EVERY-th call (1: all) of the scenarios.

strace counts the calls of each process and each name by itself, so a run is first watched without a kill, once for agentctl and once for each of the
gits that it starts; then each call that changed something is a point at which to end the process, right before that call.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tests.kill.world import AGAIN, PATIENCE, Outcome, World

STRACE = shutil.which("strace")
_CALLS = (
    "write,pwrite64,writev,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,ftruncate,truncate,fsync,fdatasync,"
    "symlink,symlinkat,chmod,fchmod,fchmodat,utimensat,copy_file_range,sendfile"
)
"""No `openat`: how often it is called depends on what else runs, and each file that is made is written or locked right after."""
_QUIET = re.compile(r"= -1 |^f(data)?sync|^utimensat.*/\.git/objects/|^(write|writev)\([012]<|pipe:|socket:|/dev/null|heartbeat|\(deleted\)")
"""Calls after which nothing is there that wasn't before (failed ones, syncs, new times of an object that is there already), so that a kill before the
next one leaves the same; that print; and those of the heartbeat, which nothing goes on from."""
_TOLD = 50  # points after which the command says how far it is
_GIT = """\
#!/bin/sh
read number < "$SWEEP/count" || number=0
number=$((number + 1)); echo $number > "$SWEEP/count"
PATH=${PATH#*:}
[ -z "$SWEEP_WATCH" ] || exec strace -qq -y -o "$SWEEP/git.$number" -e "trace=$SWEEP_CALLS" git "$@"
[ "$number" = "$SWEEP_GIT" ] || exec git "$@"
strace -qq -o /dev/null -e "trace=$SWEEP_CALL" -e "inject=$SWEEP_CALL:signal=SIGKILL:when=$SWEEP_NTH" git "$@"
code=$?
[ $code -eq 137 ] || exit $code
echo killed > "$SWEEP/killed"
[ -z "$SWEEP_BOTH" ] || kill -9 $PPID
kill -9 $$
"""


class Ends(StrEnum):
    """What is ended. A git that has lost its agentctl goes on to its end; an agentctl whose git has died has to cope."""

    OWN = "agentctl alone"
    GIT = "a git alone"
    BOTH = "a git and agentctl"


@dataclass(frozen=True)
class Point:
    """Right before the `nth` `call` of the `git`-th git that agentctl starts, or of agentctl itself (0); `told` is the call with its arguments."""

    git: int
    call: str
    nth: int
    told: str


@dataclass(frozen=True)
class Scenario:
    """A command to be ended. `before` are commands that ran to their end; then comes `command`, ended before its `nth` call that `start` names.
    `loose` objects lie about before it. `recovers` comes before it is given again: where another attempt would follow on what that picks up, it alone tells what became of the first."""

    command: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()
    start: str = ""
    nth: int = 1
    recovers: tuple[str, ...] = ()
    loose: int = 0


SCENARIOS = {
    "a step that lands": Scenario(("step", "write-one")),
    "a step that fails its gate": Scenario(("step", "write-two"), recovers=("doctor", "--fix")),
    "a step that goes on from a killed one": Scenario(("step", "edit-both"), start=r"^write\(.*ledger\.jsonl", nth=3),
    "a step that makes a killed one's commit": Scenario(("step", "write-one"), start=r"^write\(.*\.agent/notes/"),
    "a step after one that was killed when it had landed": Scenario(("step", "write-one"), start=r"^unlink\(.*journal\.json\""),
    "a step before which git packs": Scenario(("step", "write-one"), loose=40),
    "an undo": Scenario(("undo", "write-one", "--because", "It is not wanted."), before=(("step", "write-one"),)),
}


class Sweep:
    """One scenario in `folder`. Each run begins with the same bytes in the same place."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.scenario = scenario
        self._place = folder / "world"
        self._base = folder / "base"
        self._watch = folder / "watch"
        self._bin = folder / "bin"
        self._bin.mkdir(parents=True)
        (self._bin / "git").write_text(_GIT)
        (self._bin / "git").chmod(0o755)
        self.world = World(self._place)
        if scenario.loose:
            self.world.crowd(scenario.loose)
        for command in scenario.before:
            self.world.run(*command)
        shutil.copytree(self._place, self._base, symlinks=True)
        if scenario.start:
            self._begin_killed()
        self.wanted, self.points = self._watched()

    def _begin_killed(self) -> None:
        matching = [point for point in self._watched()[1] if point.git == 0 and re.search(self.scenario.start, point.told)]
        self._again()
        if not self._kill(Ends.OWN, matching[self.scenario.nth - 1])[0]:
            raise AssertionError("it was not killed")
        shutil.rmtree(self._base)
        shutil.copytree(self._place, self._base, symlinks=True)

    def points_of(self, ends: Ends) -> list[Point]:
        """The points for that way to end."""
        return [point for point in self.points if (point.git == 0) is (ends is Ends.OWN)]

    def _again(self) -> None:
        shutil.rmtree(self._place, ignore_errors=True)
        shutil.copytree(self._base, self._place, symlinks=True)
        shutil.rmtree(self._watch, ignore_errors=True)
        self._watch.mkdir()

    def _watched(self) -> tuple[Outcome, list[Point]]:
        """What it ends in undisturbed, and the calls by which agentctl and its gits changed something."""
        self._again()
        self._followed(self._git_environment(SWEEP_WATCH="1"), "-y", "-o", f"{self._watch}/git.0", "-e", f"trace={_CALLS}")
        traces = sorted(self._watch.glob("git.*"), key=lambda path: int(path.suffix[1:]))
        return self.world.outcome(), [point for path in traces for point in _points(path)]

    def _git_environment(self, **more: str) -> dict[str, str]:
        return {"SWEEP": str(self._watch), "SWEEP_CALLS": _CALLS, "PATH": f"{self._bin}:{self.world.environment['PATH']}", **more}

    def _followed(self, environment: Mapping[str, str], *strace: str) -> tuple[int, str]:
        """Run the command, held by strace from its first call; its exit code and what was said."""
        started = self.world.start(*self.scenario.command, more=environment, followed=True)
        following = subprocess.run(["strace", "-qq", *strace, "-p", str(started.pid)], capture_output=True, check=False, timeout=PATIENCE)
        if following.returncode != 0:
            started.kill()
            raise AssertionError(following.stderr.decode())
        code, _, said = started.ended(PATIENCE)
        return code, said

    def _kill(self, ends: Ends, point: Point) -> tuple[bool, int, str]:
        """Run the command, killed at `point`: whether it was, the exit code and what was said."""
        if ends is Ends.OWN:
            inject = ("-e", f"trace={point.call}", "-e", f"inject={point.call}:signal=SIGKILL:when={point.nth}")
            code, said = self._followed({}, "-o", "/dev/null", *inject)
            return code == -9, code, said
        told = {"SWEEP_GIT": str(point.git), "SWEEP_CALL": point.call, "SWEEP_NTH": str(point.nth), "SWEEP_BOTH": "1" if ends is Ends.BOTH else ""}
        code, said = self.world.run(*self.scenario.command, more=self._git_environment(**told))
        return (self._watch / "killed").exists(), code, said

    def at(self, ends: Ends, point: Point) -> list[str] | None:
        """End it at `point`, start it again until all is as undisturbed; what is wrong then or on the way. None where it had survived."""
        self._again()
        killed, code, said = self._kill(ends, point)
        if not killed:
            return None
        faults = [f"exit {code}: {said}"] if ends is Ends.GIT and _is_bug(code, said) else []
        faults += self.world.untouched()
        if self.scenario.recovers:
            self.world.run(*self.scenario.recovers)
        for _ in range(3):
            if faults or self.world.outcome() == self.wanted:
                break
            code, said = self.world.run(*self.scenario.command)
            if code not in AGAIN:
                faults.append(f"started again, it says: exit {code}: {said}")
        return [*faults, *self._at_the_end()]

    def _at_the_end(self) -> list[str]:
        if self.world.leftovers():  # it may have been ended after its last word was on disk
            self.world.run("doctor", "--fix")
        outcome = self.world.outcome()
        other = [f"another outcome: {outcome} instead of {self.wanted}"] if outcome != self.wanted else []
        money = self.world.money() if self.scenario.command[0] == "step" else []
        return [*other, *self.world.untouched(), *self.world.unsound(), *self.world.leftovers(), *money]


def _is_bug(code: int, said: str) -> bool:
    return code == 70 or "Traceback" in said


def _points(trace: Path) -> Iterator[Point]:
    """The calls of a watched process that count, each with its number among those of its name, as strace counts them."""
    before: Counter[str] = Counter()
    for line in trace.read_text(errors="replace").splitlines():
        call = line.partition("(")[0]
        if call not in _CALLS.split(","):
            continue
        before[call] += 1
        if not _QUIET.search(line):
            yield Point(int(trace.suffix[1:]), call, before[call], line)


def swept(name: str, folder: Path, every: int) -> Iterator[tuple[Ends, Point, list[str] | None]]:
    """End scenario `name` at every `every`-th of its points; what was wrong after each."""
    sweep = Sweep(SCENARIOS[name], folder)
    for ends in Ends:
        for point in sweep.points_of(ends)[::every]:
            yield ends, point, sweep.at(ends, point)


def main() -> int:
    if STRACE is None:
        sys.stderr.write("strace is not installed: nothing was swept\n")
        return 1
    every = int([*sys.argv, "1"][1])
    names = sys.argv[2:] or list(SCENARIOS)
    wrong = 0
    for name in names:
        folder = Path(tempfile.mkdtemp(prefix="agentctl-sweep-"))
        counts = dict.fromkeys(Ends, 0)
        began, faulty, survived = time.monotonic(), 0, 0
        for ends, point, faults in swept(name, folder, every):
            counts[ends] += faults is not None
            survived += faults is None
            faulty += bool(faults)
            for fault in faults or ():
                sys.stdout.write(f"FAULT in {name}, {ends} ended before call {point.nth} of its kind by git {point.git}, {point.told}: {fault}\n")
            sys.stdout.flush()
            if (sum(counts.values()) + survived) % _TOLD == 0:
                sys.stderr.write(f"{name}: {sum(counts.values())} points, {faulty} with faults, {time.monotonic() - began:.0f} s\n")
        told = ", ".join(f"{count} × {ends}" for ends, count in counts.items())
        sys.stdout.write(f"{name}: {told}, {survived} survived: {faulty} with faults ({time.monotonic() - began:.0f} s)\n")
        sys.stdout.flush()
        wrong += faulty
        shutil.rmtree(folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
