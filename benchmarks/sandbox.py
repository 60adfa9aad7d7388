"""`python -m benchmarks.sandbox [ROUNDS]`: what a sandbox adds to a command that does nothing, beside the same command without one."""

from __future__ import annotations

import os
import random
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

from agent.domain.config import SandboxSettings
from agent.worker.sandbox.choice import mechanisms
from agent.worker.sandbox.confines import confine
from agent.worker.sandbox.nothing import Nothing
from agent.worker.sandbox.protocol import Sandbox
from agent.worker.shell import Shell, clean_environment
from benchmarks.measure import Took, workshop

_BARE = "none"


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    with workshop() as folder:
        tree = folder.resolve() / "repo"
        subprocess.run(["git", "init", "--quiet", str(tree)], check=True)
        there = [sandbox for sandbox in mechanisms() if not sandbox.absent()]
        shells = {sandbox.name: _shell(sandbox, tree, folder) for sandbox in (Nothing(), *there)}
        took: dict[str, list[Took]] = {name: [] for name in shells}
        order = random.Random(0)  # noqa: S311 - an order, no secret
        for number in range(count + 1):
            for name in order.sample(list(shells), len(shells)):
                one = _timed(shells[name])
                if number:
                    took[name].append(one)
        print(f"\n### What a sandbox adds to `true`, in ms ({count} rounds)\n\n{_table(took)}")


def _shell(sandbox: Sandbox, tree: Path, folder: Path) -> Shell:
    settings = SandboxSettings()
    return Shell(tree, clean_environment(os.environ), sandbox, confine(tree, [tree / ".git"], folder, settings, os.environ), settings)


def _timed(shell: Shell) -> Took:
    began, used = time.perf_counter(), _cpu()
    done = shell.run("true", 60)
    if done.code != 0:
        raise SystemExit(f"{shell.sandbox.name} failed:\n{done.output}")
    return Took(time.perf_counter() - began, _cpu() - used)


def _cpu() -> float:
    """User and system seconds of this process and of all that it waited for."""
    kinds = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in kinds)


def _table(took: dict[str, list[Took]]) -> str:
    """Of wall and CPU time the least (on a busy machine the true cost) and the median; and how much more that is than without."""
    lines = ["| | wall, least | wall, median | CPU, median | adds, least | adds, median | adds CPU |", "|---|---|---|---|---|---|---|"]
    bare = _row(took[_BARE])
    for name, runs in took.items():
        row = _row(runs)
        more = [row[0] - bare[0], row[1] - bare[1], row[2] - bare[2]]
        lines.append(f"| {name} | " + " | ".join(f"{value * 1000:.1f}" for value in (*row, *more)) + " |")
    return "\n".join(lines)


def _row(runs: list[Took]) -> list[float]:
    return [min(one.wall for one in runs), statistics.median(one.wall for one in runs), statistics.median(one.cpu for one in runs)]


if __name__ == "__main__":
    main()
