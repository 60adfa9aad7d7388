"""agentctl remembers nothing but what is committed: one process for all the work, or a fresh one for each step, makes no difference."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.histories.at import clock_at
from tests.project import SOURCE, Project, Ran, call, finish, reply

_COMMANDS = (
    ("step",),
    ("step",),
    ("step",),
    ("todo", "reopen", "add-a-test", "--because", "Yes, floats too."),
    ("note", "Mind the rounding of money."),
    ("step",),
    ("step",),
    ("step",),
)
_CODES = [4, 0, 6, 0, 0, 0, 0, 3]
_LESSON = call("remember", title="Tests want a free port", text="They start a server each.")
_REPLIES = {
    "fix-it": [
        [reply(finish("All done!"))],
        [
            reply(
                call("write", path="fix.py", content="x = 1\n"),
                _LESSON,
                call("propose", title="Tidy fix.py", text="x wants a name."),
                finish("Fixed."),
            )
        ],
    ],
    "add-a-test": [
        [reply(call("ask", question="Floats too?"))],
        [reply(call("write", path="test_fix.py", content="import fix\n"), finish("Tested."))],
    ],
    "*": [[reply(call("read", path="fix.py"), call("edit", path="fix.py", old="x", new="width"), finish("Named."))]],
}


@dataclass(frozen=True)
class Left:
    """What the work left: the tree but for the seconds it took, the messages, and what agentctl says of it."""

    tree: dict[str, str]
    messages: str
    todo: Any
    log: Any
    cost: Any
    brief: str


def test_work_in_one_process_and_in_a_fresh_one_for_each_step_ends_the_same(seed: Path, tmp_path: Path) -> None:
    one = _work(seed, tmp_path / "one", _within)
    fresh = _work(seed, tmp_path / "fresh", _apart)
    assert [row["state"] for row in one.todo] == ["done"] * 3
    assert fresh == one


def _work(seed: Path, folder: Path, do: Callable[[Project, datetime, tuple[str, ...]], Ran]) -> Left:
    shutil.copytree(seed, folder / "repo", symlinks=True)
    project = Project(folder / "repo", folder / "replies.yaml")
    project.record(_REPLIES)
    os.environ["AGENTCTL_MODEL"] = "scripted:../replies.yaml"
    moment = datetime(2026, 11, 29, 23, 58, tzinfo=UTC)
    codes = []
    for command in _COMMANDS:
        moment += timedelta(minutes=1)
        codes.append(do(project, moment, command).code)
    assert codes == _CODES
    return _left(project)


def _within(project: Project, moment: datetime, command: tuple[str, ...]) -> Ran:
    with clock_at(moment):
        return project.agentctl(*command)


def _apart(project: Project, moment: datetime, command: tuple[str, ...]) -> Ran:
    words = [sys.executable, "-m", "tests.histories.at", moment.isoformat(), *command]
    done = subprocess.run(words, cwd=project.root, env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True, text=True, check=False)
    return Ran(done.returncode, done.stdout, done.stderr)


def _left(project: Project) -> Left:
    paths = project.git("ls-files", "-z").split("\0")[:-1]
    assert project.status() == ""
    log = project.agentctl("log", "--json").json
    return Left(
        tree={path: _timeless(project.read(path)) for path in paths},
        messages=project.git("log", "--format=%B"),
        todo=project.agentctl("todo", "--json").json,
        log=[{key: value for key, value in line.items() if key != "commit"} for line in log],
        cost=project.agentctl("cost", "--json").json["total"],
        brief=re.sub(r"\b[0-9a-f]{10}\b", "COMMIT", project.agentctl("context", "--item", "fix-it").out),
    )


def _timeless(text: str) -> str:
    """Without the seconds that a step took, and the comment lines whose number follows from the length of that."""
    return re.sub(r"^# [a-z2-7]{58}\n", "", re.sub(r"seconds: \d+", "seconds: 0", text), flags=re.MULTILINE)
