"""`python -m benchmarks.endurance [STEPS]`: that many steps on one repository, with faults and kills, without waiting for the clock.

3,744 is a step each five minutes for thirteen days. Every 10th step is killed at a random moment and taken up again, and the model is out of
reach once in every step. At marks on the way: the median CPU of the last steps, the most memory that one took, the tokens of the next
brief, and the size of `.git`, before and after `git gc` in a copy.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import AGENTCTL, environment, workshop

_MARKS = (20, 50, 100, 300, 1000, 2000, 3744)
_OPEN = 20  # items that are open at the most
_FEW = 5
_LAST = 15  # steps that a median is of
_KILLED = 10  # each of so many steps is killed once
_REPLIES = """\
items:
  "*":
    - replies:
        - {error: {kind: wait, message: "overloaded"}}
        - calls: [{tool: run, args: {command: "n=$(cat count.txt); echo $((n+1)) > count.txt; date +%s%N > last.txt"}}]
          usage: {input: 1200, cached: 0, output: 80}
        - calls: [{tool: finish, args: {note: "The count went up by one, as the item wants.", letter: "Nothing is left of this one."}}]
          usage: {input: 1300, cached: 1000, output: 60}
price: {input: 1.0, cached: 0.1, output: 5.0}
"""


@dataclass(frozen=True)
class Took:
    """Of one step: seconds of CPU, its children's included, and the most memory of one of its processes in KiB."""

    cpu: float
    memory: int


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else _MARKS[-1]
    with workshop() as folder:
        env = {**environment(folder / "home"), "AGENTCTL_BACKOFF": "0.001", "AGENTCTL_MODEL": f"scripted:{folder / 'replies.yaml'}"}
        (folder / "replies.yaml").write_text(_REPLIES)
        root = _repository(folder / "repo", env)
        print(f"\n### {steps} steps on one repository, every {_KILLED}th killed once\n")
        print("| step | CPU s (median) | memory MiB (most) | brief tokens | .git MiB | after gc |\n|---|---|---|---|---|---|", flush=True)
        took: list[Took] = []
        for number, one in enumerate(_steps(root, env, steps), 1):
            took.append(one)
            if number in _MARKS or number == steps:
                print(_line(root, env, number, took[-_LAST:]), flush=True)


def _steps(root: Path, env: Mapping[str, str], count: int) -> Iterator[Took]:
    chance = random.Random(0)  # noqa: S311 - the same moments again
    seconds = 1.0
    for number in range(count):
        if number % _OPEN == 0:
            _add_items(root, env, number)  # while a few of those before are still open, so that there is a brief at each mark
        if number % _KILLED == _KILLED - 1:
            _killed(root, env, chance.uniform(0, seconds))
        began = time.monotonic()
        yield _step(root, env)
        seconds = time.monotonic() - began


def _step(root: Path, env: Mapping[str, str]) -> Took:
    process = subprocess.Popen([*AGENTCTL, "step"], cwd=root, env=dict(env), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read() if process.stderr else b""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):
        raise SystemExit(f"exit {process.returncode}: {said.decode()}")
    return Took(used.ru_utime + used.ru_stime, used.ru_maxrss)


def _killed(root: Path, env: Mapping[str, str], after: float) -> None:
    process = subprocess.Popen(
        [*AGENTCTL, "step"], cwd=root, env=dict(env), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _line(root: Path, env: Mapping[str, str], number: int, took: list[Took]) -> str:
    brief = subprocess.run([*AGENTCTL, "context"], cwd=root, env=dict(env), capture_output=True, check=True).stdout
    copy = root.with_name("copy")
    shutil.copytree(root / ".git", copy)
    _git(copy, env, "--git-dir=.", "gc", "--quiet")
    sizes = " | ".join(f"{_bytes(git) / 2**20:.1f}" for git in (root / ".git", copy))
    shutil.rmtree(copy)
    return f"| {number} | {statistics.median(one.cpu for one in took):.2f} | {max(one.memory for one in took) / 1024:.0f} | {len(brief) // 4} | {sizes} |"


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _add_items(root: Path, env: Mapping[str, str], first: int) -> None:
    for number in range(first + _FEW if first else 0, first + _FEW + _OPEN):
        (root / f".agent/todo/count-up-{number}.md").write_text(f"# Count up to {number}\n\ncount.txt says one more.\n")
    _git(root, env, "add", ".agent")
    _git(root, env, "commit", "--quiet", "-m", f"items from {first}")


def _repository(root: Path, env: Mapping[str, str]) -> Path:
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(root)], env=dict(env), check=True)
    (root / ".agent/todo").mkdir(parents=True)
    files = {"count.txt": "0\n", "last.txt": "\n", ".agent/config.yaml": 'checks: ["test -s count.txt"]\n', ".agent/goal.md": "Count.\n"}
    for path, text in files.items():
        (root / path).write_text(text)
    _git(root, env, "add", ".")
    _git(root, env, "commit", "--quiet", "-m", "start")
    return root


def _git(folder: Path, env: Mapping[str, str], *args: str) -> None:
    subprocess.run(["git", *args], cwd=folder, env=dict(env), check=True)


if __name__ == "__main__":
    main()
