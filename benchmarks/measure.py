"""Whole processes, timed side by side: on a busy machine only what ran in the same minute can be compared."""

from __future__ import annotations

import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parent.parent
AGENTCTL = (sys.executable, "-P", "-c", "import sys; from agent.cli.main import main; sys.exit(main())")  # as the installed script begins
IMPORTS = (sys.executable, "-P", "-c", "import click, yaml, git")
ADDS = """\
items:
  "*":
    - replies:
        - calls:
            - {tool: edit, args: {path: calc.py, old: "a - b", new: "a + b"}}
            - {tool: finish, args: {note: "add() adds now.", letter: "Nothing is left."}}
          usage: {input: 1200, cached: 0, output: 80}
"""
"""A recorded model that mends the sign in calc.py, in one call."""

_GITCONFIG = "[user]\n\tname = Bench\n\temail = bench@example.invalid\n[init]\n\tdefaultBranch = main\n"


@dataclass(frozen=True)
class Case:
    """A command to time: `ready` is called before each run, outside of the time."""

    name: str
    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    ready: Callable[[], object] = lambda: None


@dataclass(frozen=True)
class Took:
    """Seconds: wall clock, and user and system CPU of a process and of all that it waited for."""

    wall: float
    cpu: float


def rounds(cases: Sequence[Case], count: int) -> dict[str, list[Took]]:
    """Each case once a round, in an order shuffled anew each time; the first round warms caches and is left out."""
    order = random.Random(0)  # noqa: S311 - an order, no secret
    took: dict[str, list[Took]] = {case.name: [] for case in cases}
    for number in range(count + 1):
        for case in order.sample(cases, len(cases)):
            case.ready()
            one = _timed(case)
            if number:
                took[case.name].append(one)
    return took


def _timed(case: Case) -> Took:
    """Runs `case`. Raises SystemExit where it fails: a broken command is quick, and its time says nothing."""
    os.chdir(case.cwd)
    with tempfile.TemporaryFile() as said:
        began = time.perf_counter()
        streams = [(os.POSIX_SPAWN_DUP2, said.fileno(), number) for number in (1, 2)]
        child = os.posix_spawnp(case.argv[0], case.argv, dict(case.env), file_actions=streams)
        _, status, used = os.wait4(child, 0)
        wall = time.perf_counter() - began
        if os.waitstatus_to_exitcode(status) != 0:
            said.seek(0)
            raise SystemExit(f"{case.name} failed:\n{said.read().decode(errors='replace')}")
    return Took(wall, used.ru_utime + used.ru_stime)


def table(took: Mapping[str, Sequence[Took]], against: str) -> str:
    """A Markdown table: medians in seconds, and the median over the rounds of the ratio to `against` in the same round."""
    lines = ["| | wall s | CPU s | wall × | CPU × |", "|---|---|---|---|---|"]
    base = took[against]
    for name, runs in took.items():
        wall = statistics.median(one.wall for one in runs)
        cpu = statistics.median(one.cpu for one in runs)
        times_wall = statistics.median(one.wall / other.wall for one, other in zip(runs, base, strict=True))
        times_cpu = statistics.median(one.cpu / other.cpu for one, other in zip(runs, base, strict=True))
        lines.append(f"| {name} | {wall:.3f} | {cpu:.3f} | {times_wall:.2f} | {times_cpu:.2f} |")
    return "\n".join(lines)


def environment(home: Path) -> dict[str, str]:
    """An environment without the person's settings and keys; `home` gets an identity for git."""
    home.mkdir(parents=True, exist_ok=True)
    (home / ".gitconfig").write_text(_GITCONFIG)
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "AGENTCTL_TRUST": "yes", "PYTHONPATH": str(SOURCE)}


@contextmanager
def workshop() -> Iterator[Path]:
    """A folder for one run, taken away at its end."""
    folder = Path(tempfile.mkdtemp(prefix="agentctl-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
