"""`python -m benchmarks.endurance [STEPS [FOLDER]]`: that many steps on one repository, with faults and kills, without waiting for the clock.

In a FOLDER the repository stays, and a later call goes on with it: the steps may be taken in several sittings.

3,744 is a step each five minutes for thirteen days. `agentctl run` takes them, ten at a time; every ten it is ended by SIGKILL once, at a
random moment, and begun again, and the model is out of reach once in every step. At marks on the way: CPU and wall of a step (the median of the last runs), the
most memory that one process took, the tokens of the next brief, and the size of `.git`, before and after `git gc` in a copy. At the end each
item has to be done once, git has to find no fault, and nothing may be left lying about; then steps there and in a new repository take turns.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import AGENTCTL, environment, workshop

_MARKS = (20, 50, 100, 300, 1000, 2000, 3744)
_STRETCH = 10  # steps from one kill to the next
_SPARE = 5  # items that stay open, so that there is a brief at each mark
_LAST = 15  # runs that a median is of
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
    """Of one run that wasn't killed: seconds of wall and CPU for each step, its children's included, and the most memory of one process in KiB."""

    wall: float
    cpu: float
    memory: int


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else _MARKS[-1]
    with nullcontext(Path(sys.argv[2]).resolve()) if len(sys.argv) > 2 else workshop() as folder:
        env = {**environment(folder / "home"), "AGENTCTL_BACKOFF": "0.001", "AGENTCTL_MODEL": f"scripted:{folder / 'replies.yaml'}"}
        (folder / "replies.yaml").write_text(_REPLIES)
        root = folder / "repo" if (folder / "repo").exists() else _repository(folder / "repo", env)
        print(f"\n### {steps} steps on one repository, killed once every {_STRETCH}\n")
        print("| step | wall s | CPU s | memory MiB (most) | brief tokens | .git MiB | after gc |\n|---|---|---|---|---|---|---|", flush=True)
        took: list[Took] = []
        number = _done(root, env)
        marks = sorted({*(mark for mark in _MARKS if number < mark < steps), steps})
        for number, one in _stretches(root, env, steps):
            took.append(one)
            if marks and number >= marks[0]:
                print(_line(root, env, number, took[-_LAST:]), flush=True)
                marks = [mark for mark in marks if mark > number]
        print(f"\n{_whole(root, env, number)}\n", flush=True)
        print(_flat(root, env))


def _stretches(root: Path, env: Mapping[str, str], steps: int) -> Iterator[tuple[int, Took]]:
    """Take the steps; gives after each ten or eleven how many are done, and what those after the kill took."""
    done, seconds = _done(root, env), float(_STRETCH)
    added = len(list((root / ".agent/todo").iterdir()))
    chance = random.Random(done)  # noqa: S311 - the same moments again
    while done < steps:
        added = _add_items(root, env, added, done + _STRETCH + _SPARE)
        goal = min(done + _STRETCH, steps)
        _killed(root, env, goal - done, chance.uniform(0, seconds))
        done = _done(root, env)
        goal += done == goal  # what the kill left, a lock of git's at worst, is the next run's to mend
        took = _run(root, env, goal - done)
        seconds = took.wall * _STRETCH
        done = _done(root, env)
        if done not in {goal, goal + 1}:  # the second run may first make the commit that the killed one was about to make
            raise SystemExit(f"{done} items are done, and should be {goal}")
        yield done, took


def _run(root: Path, env: Mapping[str, str], steps: int) -> Took:
    began = time.monotonic()
    process = subprocess.Popen(_command(steps), cwd=root, env=dict(env), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read() if process.stderr else b""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 5):
        raise SystemExit(f"exit {process.returncode}: {said.decode()}")
    return Took((time.monotonic() - began) / steps, (used.ru_utime + used.ru_stime) / steps, used.ru_maxrss)


def _killed(root: Path, env: Mapping[str, str], steps: int, after: float) -> None:
    process = subprocess.Popen(_command(steps), cwd=root, env=dict(env), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _command(steps: int) -> list[str]:
    return [*AGENTCTL, "run", "--steps", str(steps)]


def _done(root: Path, env: Mapping[str, str]) -> int:
    """How many notes tell of a step that landed."""
    names = subprocess.run(["git", "ls-tree", "-r", "--name-only", "HEAD", ".agent/notes"], cwd=root, env=dict(env), capture_output=True, check=True)
    return names.stdout.count(b".done.md")


def _line(root: Path, env: Mapping[str, str], number: int, took: list[Took]) -> str:
    brief = subprocess.run([*AGENTCTL, "context", "--json"], cwd=root, env=dict(env), capture_output=True, check=True).stdout
    copy = root.with_name("copy")
    shutil.copytree(root / ".git", copy)
    _git(copy, env, "--git-dir=.", "gc", "--quiet")
    sizes = " | ".join(f"{_bytes(git) / 2**20:.1f}" for git in (root / ".git", copy))
    shutil.rmtree(copy)
    wall, cpu = (statistics.median(values) for values in zip(*((one.wall, one.cpu) for one in took), strict=True))
    return f"| {number} | {wall:.2f} | {cpu:.2f} | {max(one.memory for one in took) / 1024:.0f} | {json.loads(brief)['tokens']} | {sizes} |"


def _whole(root: Path, env: Mapping[str, str], steps: int) -> str:
    """That nothing was lost, doubled or left lying about, in a sentence. Ends the program where it was."""
    log = json.loads(subprocess.run([*AGENTCTL, "log", "--json"], cwd=root, env=dict(env), capture_output=True, check=True).stdout)
    items = [entry["item"] for entry in log if entry["outcome"] == "done"]
    if sorted(items) != sorted(f"count-up-{number}" for number in range(steps)):
        raise SystemExit(f"{len(items)} steps landed, at {len(set(items))} items: {steps} should have, each once")
    _git(root, env, "fsck", "--strict", "--no-progress", "--no-dangling")
    left = subprocess.run(["git", "status", "--porcelain"], cwd=root, env=dict(env), capture_output=True, check=True).stdout
    left += subprocess.run(
        ["git", "for-each-ref", "refs/agentctl/wip", "refs/agentctl/paused"], cwd=root, env=dict(env), capture_output=True, check=True
    ).stdout
    if left:
        raise SystemExit(f"left behind: {left.decode()}")
    return f"{steps} items, each done by one step; git fsck finds nothing; the work tree is clean, no work in progress is left."


def _flat(root: Path, env: Mapping[str, str]) -> str:
    """How much more a step takes in `root` than in a repository that has only begun: ten steps of each in turns, the medians of the ratios."""
    with workshop() as folder:
        new = _repository(folder / "new", env)
        pairs = [(_ten(root, env), _ten(new, env)) for _ in range(_LAST)]
    wall = statistics.median(old.wall / fresh.wall for old, fresh in pairs[1:])
    cpu = statistics.median(old.cpu / fresh.cpu for old, fresh in pairs[1:])
    return (
        f"Beside a repository of {_STRETCH} to {_STRETCH * _LAST} steps, in turns: a step takes {cpu:.2f} times its CPU, {wall:.2f} times its wall."
    )


def _ten(root: Path, env: Mapping[str, str]) -> Took:
    added = len(list((root / ".agent/todo").iterdir())) if (root / ".agent/todo").exists() else 0
    _add_items(root, env, added, max(added + 1, _done(root, env) + _STRETCH))
    return _run(root, env, _STRETCH)


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _add_items(root: Path, env: Mapping[str, str], first: int, end: int) -> int:
    for number in range(first, end):
        (root / f".agent/todo/count-up-{number}.md").write_text(f"---\norder: {number}\n---\n# Count up to {number}\n\ncount.txt says one more.\n")
    _git(root, env, "add", ".agent")
    _git(root, env, "commit", "--quiet", "-m", f"items from {first}")
    return end


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
