"""How little a step starts: git processes are most of what agentctl itself takes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agent.repository.repo import discover
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


@pytest.mark.parametrize("preload", ["true", "false"])
def test_a_long_index_is_written_anew_only_where_many_files_had_to_be_read(project: Project, preload: str) -> None:
    """To write that of 50,000 files takes a fifth of what the look takes, and after each commit there are some files that it knows too little of."""
    project.git("config", "core.preloadIndex", preload)
    names = [f"far/{number:04}{'x' * 200}" for number in range(2000)]
    for name in names:
        os.utime(project.write(name, ""), (5, 5))
    project.commit("many")
    repo = discover(project.root)
    index = project.root / ".git/index"
    for stale, anew in ((names[:1], False), (names, True), (["calc.py"], False)):
        for name in stale:
            os.utime(project.root / name, (len(stale), 1))
        before = index.read_bytes()
        seen = repo.survey()
        assert (seen.modified, seen.untracked, index.read_bytes() != before) == ((), (), anew)
    assert project.git("diff-files", "--name-only") == "calc.py\n"
