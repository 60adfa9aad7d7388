"""How little a step starts: git processes are most of what agentctl itself takes."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.project import Project, edit, finish, reply

_MOST = 40


def _started(trace: Path) -> list[str]:
    events = [json.loads(line) for line in trace.read_text("utf-8").splitlines()]
    return [" ".join(event["argv"]) for event in events if event["event"] == "start"]


def test_a_step_of_one_call_starts_few_git_processes(project: Project, tmp_path: Path) -> None:
    project.items("Make add() add", "Make sub() subtract")
    project.record({"*": [[reply(edit("calc.py", "a - b", "a + b"), finish())]]})
    assert project.process("doctor").code == 0
    ran = project.interpreter("step", env={"GIT_TRACE2_EVENT": str(tmp_path / "trace")})
    assert ran.code == 0, ran.err
    started = _started(tmp_path / "trace")
    assert len(started) <= _MOST, "\n".join(started)
    looks = [one.rpartition(" status ")[2].split()[5:] for one in started if " status " in one]
    everywhere, after_base_checks, tracked = (
        ["--untracked-files=normal", "--ignored=traditional"],
        ["--untracked-files=all"],
        ["--untracked-files=no", "--"],
    )
    assert looks == [everywhere, after_base_checks, tracked], "nobody looks for new files that can't land"


def test_a_step_brings_an_index_of_another_disk_up_to_date_once(project: Project) -> None:
    """Else each of its looks would read all files again, and so would those of every later step."""
    project.items("Make add() add")
    project.record({"*": [[reply(edit("calc.py", "a - b", "a + b"), finish())]]})
    os.utime(project.root / "check.sh", (1, 1))
    stale = project.git("diff-files", "--name-only")
    assert "check.sh" in stale
    assert project.agentctl("status").code == 0
    assert project.git("diff-files", "--name-only") == stale  # who only reads takes no lock
    assert project.agentctl("step").code == 0
    assert project.git("diff-files", "--name-only") == ""
