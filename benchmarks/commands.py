"""`python -m benchmarks.commands [ROUNDS]`: what the commands that call no model cost beside a process that only imports click, yaml and git."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.histories import LARGE, SMALL, repository
from benchmarks.measure import AGENTCTL, IMPORTS, Case, environment, rounds, table, workshop

_FLOOR = "imports only"
_REPLIES = """\
items:
  "*":
    - replies:
        - calls:
            - {tool: run, args: {command: "date +%s%N > landed.txt"}}
            - {tool: finish, args: {note: "landed.txt says when.", letter: "Nothing is left of this one."}}
          usage: {input: 1200, cached: 0, output: 80}
"""
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
        for who, further in _further(folder).items():
            _show(f"The same after each time a further commit by {who}", later, env, _after(further, later, env), count)
        _show("The same with the caches deleted each time", later, env, _without_caches(later, env), max(1, count // 3))


def _show(title: str, root: Path, env: dict[str, str], cases: list[Case], count: int) -> None:
    print(f"\n### {title} ({count} rounds)\n")
    print(table(rounds([Case(_FLOOR, IMPORTS, root, env), *cases], count), _FLOOR), flush=True)


def _further(folder: Path) -> dict[str, tuple[str, ...]]:
    """What makes a further commit: plain git, a letter to the next session, a step."""
    (folder / "replies.yaml").write_text(_REPLIES)
    return {
        "a person (git commit)": ("sh", "-c", "date +%s%N >> by-hand.txt && git add by-hand.txt && git commit --quiet -m 'By hand'"),
        "agentctl note": (*AGENTCTL, "note", "Mind the gap."),
        "agentctl step": (*AGENTCTL, "step", "--model", f"scripted:{folder / 'replies.yaml'}"),
    }


def _after(further: tuple[str, ...], root: Path, env: dict[str, str]) -> list[Case]:
    return [Case(words[0], (*AGENTCTL, *words), root, env, ready=lambda: _quietly(further, root, env)) for words in _COMMANDS[1:]]


def _without_caches(root: Path, env: dict[str, str]) -> list[Case]:
    cache = root / ".git" / "agentctl" / "cache"
    return [Case(words[0], (*AGENTCTL, *words), root, env, ready=lambda: shutil.rmtree(cache, ignore_errors=True)) for words in _COMMANDS[1:]]


def _quietly(command: tuple[str, ...], root: Path, env: dict[str, str]) -> None:
    subprocess.run(command, cwd=root, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
