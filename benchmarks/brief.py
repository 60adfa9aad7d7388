"""`python -m benchmarks.brief [ROUNDS]`: the size of the brief, and what building it costs, at four points of a long history."""

from __future__ import annotations

import json
import subprocess
import sys

from benchmarks.histories import LARGE, at_steps, repository
from benchmarks.measure import AGENTCTL, IMPORTS, Case, environment, rounds, table, workshop

_FLOOR = "imports only"
_STEPS = (10, 100, 1_000, 10_000)
_UNTRIED = f"move-part-{LARGE.items - 2}-of-module-198-to-the-new"
_OFTEN = "move-part-1-of-module-1-to-the-new"


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with workshop() as folder:
        env = environment(folder / "home")
        root = repository(LARGE, env)
        commits = at_steps(root, env, _STEPS)
        cases = [Case(_FLOOR, IMPORTS, root, env)]
        print("\n| step | tokens for an item never tried | for one tried again and again |\n|---|---|---|")
        for step, commit in zip(_STEPS, commits, strict=True):
            commands = [(*AGENTCTL, "context", "--at", commit, "--json", "--item", item) for item in (_UNTRIED, _OFTEN)]
            sizes = [json.loads(subprocess.run(command, cwd=root, env=env, check=True, capture_output=True).stdout)["tokens"] for command in commands]
            print(f"| {step:,} | {sizes[0]:,} | {sizes[1]:,} |", flush=True)
            cases.append(Case(f"context at step {step:,}", commands[0], root, env))
        print(f"\n### agentctl context --json ({count} rounds)\n")
        print(table(rounds(cases, count), _FLOOR))


if __name__ == "__main__":
    main()
