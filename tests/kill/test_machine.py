"""A clock that jumps back, two runs at once, a machine that was started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.project import ADDS, SOURCE, Project, call, edit, finish, reply

ITEM = "make-add-add"


@pytest.fixture
def listed(project: Project) -> Project:
    project.items("Make add() add")
    return project


@pytest.fixture
def first(listed: Project, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run whose worker has changed something and is in a command that takes long."""
    mark = listed.root / "at-work"
    listed.record({ITEM: [[reply(edit("calc.py", "a - b", "a + b")), reply(call("run", command="touch at-work; sleep 300"))]]})
    with (tmp_path / "said").open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "agent", "run"],
            cwd=listed.root,
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
    deadline = time.monotonic() + 60
    try:
        while not mark.exists():
            assert time.monotonic() < deadline, (tmp_path / "said").read_text()
            time.sleep(0.02)
        yield process
    finally:
        process.terminate()
        process.wait(60)


def test_after_the_clock_jumped_back_notes_and_commits_still_come_later_than_those_before(listed: Project) -> None:
    listed.record({ITEM: [[reply(finish())]]})
    note = listed.write(".agent/notes/2124-02-03/040506-somewhere-else.letter.md", "# A letter\n\nFrom a clock that was ahead.\n")
    listed.git("add", ".agent")
    listed.git("commit", "--quiet", "-m", "ahead", env={"GIT_COMMITTER_DATE": "2080-01-01T00:00:00Z"})
    listed.record({ITEM: [[reply(ADDS, finish())]]})
    ran = listed.process("step")
    assert ran.code == 0, ran.err
    names = sorted(str(path.relative_to(note.parent.parent)) for path in note.parent.parent.rglob("*.md"))
    assert [name.rpartition(".")[0].rpartition(".")[2] for name in names] == ["letter", "done"]
    before, after = (int(listed.git("log", "-1", "--format=%ct", commit)) for commit in ("HEAD^", "HEAD"))
    assert after > before


def test_of_two_runs_at_once_the_second_names_the_first_and_leaves_it_alone(listed: Project, first: subprocess.Popen[bytes]) -> None:
    second = listed.process("run")
    told = second.out + second.err
    assert (second.code, f"another agentctl (process {first.pid}) is at work" in told) == (75, True), told
    first.send_signal(signal.SIGTERM)
    assert first.wait(60) == 143
    listed.record({ITEM: [[reply(finish())]]})
    assert listed.process("run").code == 0
    assert listed.read("calc.py").endswith("a + b\n")


def test_after_a_reboot_nobody_waits_for_the_process_that_has_the_dead_ones_number(listed: Project, first: subprocess.Popen[bytes]) -> None:
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    heartbeat = listed.root / ".git/agentctl/heartbeat"
    heartbeat.write_text(json.dumps(json.loads(heartbeat.read_text()) | {"pid": os.getpid(), "boot": "another start of the machine"}))
    status = listed.process("status")
    assert "the machine, which was started again since" in status.out, status.out
    listed.record({ITEM: [[reply(finish())]]})
    ran = listed.process("run")
    assert ran.code == 0, ran.err
    assert (listed.read("calc.py").endswith("a + b\n"), listed.status()) == (True, "")
