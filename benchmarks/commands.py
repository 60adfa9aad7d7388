"""`python -m benchmarks.commands [ROUNDS]`: what the commands that call no model cost beside a process that only imports click, yaml and git."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.histories import LARGE, SMALL, repository
from benchmarks.measure import AGENTCTL, IMPORTS, Case, environment, rounds, table, workshop

_FLOOR = "imports only"
_COMMANDS = (("--version",), ("status",), ("todo",), ("log",), ("context",))


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with workshop() as folder:
        env = environment(folder / "home")
        for size in (SMALL, LARGE):
            root = repository(size, env)
            _show(
                f"{size.items:,} items, {size.steps:,} steps",
                root,
                env,
                [Case(" ".join(words), (*AGENTCTL, *words), root, env) for words in _COMMANDS],
                count,
            )
        later = folder / "later"
        subprocess.run(["git", "clone", "--quiet", str(root), str(later)], env=env, check=True)
        shutil.copytree(root / ".git" / "agentctl", later / ".git" / "agentctl")
        _show("The same after each time another commit", later, env, _after_a_commit(later, env), count)
        _show("The same with the caches deleted each time", later, env, _without_caches(later, env), max(1, count // 3))


def _show(title: str, root: Path, env: dict[str, str], cases: list[Case], count: int) -> None:
    print(f"\n### {title} ({count} rounds)\n")
    print(table(rounds([Case(_FLOOR, IMPORTS, root, env), *cases], count), _FLOOR), flush=True)


def _after_a_commit(root: Path, env: dict[str, str]) -> list[Case]:
    letter = (*AGENTCTL, "note", "Mind the gap.")
    return [Case(words[0], (*AGENTCTL, *words), root, env, ready=lambda: _quietly(letter, root, env)) for words in _COMMANDS[1:]]


def _without_caches(root: Path, env: dict[str, str]) -> list[Case]:
    cache = root / ".git" / "agentctl" / "cache"
    return [Case(words[0], (*AGENTCTL, *words), root, env, ready=lambda: shutil.rmtree(cache, ignore_errors=True)) for words in _COMMANDS[1:]]


def _quietly(command: tuple[str, ...], root: Path, env: dict[str, str]) -> None:
    subprocess.run(command, cwd=root, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
