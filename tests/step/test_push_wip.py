"""Work in progress that is sent to a remote can be gone on from on another machine."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.project import Project, call, edit, finish, reply
from tests.step.test_step import ITEM, good


@pytest.fixture
def shared(listed: Project, tmp_path: Path) -> Project:
    listed.git("init", "--quiet", "--bare", str(tmp_path / "remote.git"))
    listed.git("remote", "add", "backup", str(tmp_path / "remote.git"))
    listed.write(".agent/config.yaml", listed.read(".agent/config.yaml") + "push_wip: backup\n")
    listed.commit("send work in progress")
    listed.git("push", "--quiet", "backup", "main")
    return listed


def there(project: Project) -> list[str]:
    return project.git("ls-remote", "backup", "refs/agentctl/*").split()[1::2]


@pytest.mark.usefixtures("unconfined")
def test_a_lost_machine_loses_no_more_than_the_call_in_flight(shared: Project, tmp_path: Path) -> None:
    shared.record(
        {ITEM: [[reply(edit("calc.py", "a - b", "a * b")), reply(edit("calc.py", "a * b", "a + b")), reply(call("run", command="kill -9 $PPID"))]]}
    )
    assert shared.process("step").code == -signal.SIGKILL
    other = Project(tmp_path / "other", shared.recording)
    shared.git("clone", "--quiet", "--origin", "backup", str(tmp_path / "remote.git"), str(other.root))
    other.git("fetch", "--quiet", "backup", "refs/agentctl/wip/*:refs/agentctl/paused/*")
    shared.record({ITEM: [[reply(finish())]]})
    ran = other.agentctl("step")
    assert ran.code == 0, ran.err
    assert other.read("calc.py").endswith("a + b\n")
    assert there(other) == []


def test_nothing_stays_at_the_remote_when_the_step_is_over(shared: Project) -> None:
    shared.record({ITEM: [[good()]]})
    ran = shared.agentctl("step")
    assert (ran.code, there(shared)) == (0, []), ran.err
    assert "not sent" not in ran.err


def test_a_remote_that_is_out_is_told_and_the_step_lands(shared: Project, tmp_path: Path) -> None:
    (tmp_path / "remote.git").rename(tmp_path / "gone.git")
    shared.record({ITEM: [[good()]]})
    ran = shared.agentctl("step")
    assert ran.code == 0, ran.err
    assert "not sent: refs/agentctl/wip/" in ran.err


def test_only_a_remote_that_is_known_here_gets_anything(shared: Project, tmp_path: Path) -> None:
    shared.write(".agent/config.yaml", f"push_wip: {tmp_path}/remote.git\n")
    shared.commit("an address in place of a name")
    ran = shared.agentctl("step")
    assert ran.code == 1
    assert "which is no remote here (there are: backup)" in ran.err
