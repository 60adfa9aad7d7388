"""`python -m benchmarks.commands [ROUNDS]`: what the commands that call no model cost beside a process that only imports click, yaml and git."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from benchmarks.histories import LARGE, SMALL, Size, repository
from benchmarks.measure import AGENTCTL, IMPORTS, Case, environment, rounds, table, workshop

_FLOOR = "imports only"
_COMMANDS = (("--version",), ("status",), ("todo",), ("log",), ("context",))


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with workshop() as folder:
        env = environment(folder / "home")
        for size in (SMALL, LARGE):
            root = repository(size, env)
            cases = [Case(_FLOOR, IMPORTS, root, env), *_cases(size, root, env)]
            print(f"\n### {size.items:,} items, {size.steps:,} steps ({count} rounds)\n")
            print(table(rounds(cases, count), _FLOOR))


def _cases(size: Size, root: Path, env: dict[str, str]) -> list[Case]:
    cases = [Case(" ".join(words), (*AGENTCTL, *words), root, env) for words in _COMMANDS]
    if size is LARGE:
        cache = root / ".git" / "agentctl" / "cache"
        cases.append(Case("status, cache deleted", (*AGENTCTL, "status"), root, env, ready=lambda: shutil.rmtree(cache, ignore_errors=True)))
    return cases


if __name__ == "__main__":
    main()
