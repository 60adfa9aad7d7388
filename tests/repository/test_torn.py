"""What a power cut leaves of a branch is never taken for a repository without commits."""

from __future__ import annotations

import pytest

from tests.project import ADDS, Project, finish, reply

_COMMANDS = (["status"], ["step"], ["todo", "add", "x"], ["undo", "x", "--because", "y"], ["init"], ["context"])


@pytest.mark.parametrize(("command", "left"), [*((command, b"") for command in _COMMANDS), (["status"], b"\0" * 41), (["step"], b"3f2a")])
def test_a_torn_ref_is_named_with_the_last_whole_commit(project: Project, command: list[str], left: bytes) -> None:
    head = project.head()
    (project.root / ".git/refs/heads/main").write_bytes(left)
    ran = project.agentctl(*command)
    assert ran.code == 1, ran.out
    assert f"the last whole commit in its log is {head[:10]}" in ran.err
    assert "agentctl doctor --fix" in ran.err
    assert (project.root / ".git/refs/heads/main").read_bytes() == left


def test_doctor_mends_it_and_the_files_stay_as_they_are(project: Project) -> None:
    first = project.head()
    project.items("Make add() add")
    project.write("calc.py", "my work\n")
    (project.root / ".git/refs/heads/main").write_bytes(b"")
    ran = project.agentctl("doctor", "--fix")
    assert "main is at" in ran.out + ran.err
    assert project.git("rev-parse", "HEAD^").strip() == first
    assert project.status() == " M calc.py\n"


def test_a_commit_whose_object_is_empty_is_gone_back_from(project: Project) -> None:
    first = project.head()
    project.items("Make add() add")
    head = project.head()
    thing = project.root / ".git/objects" / head[:2] / head[2:]
    thing.chmod(0o644)
    thing.write_bytes(b"")
    assert f"the last whole commit in its log is {first[:10]}" in project.agentctl("status").err
    project.agentctl("doctor", "--fix")
    assert (project.head(), thing.exists()) == (first, False)
    project.git("add", ".agent")
    project.git("commit", "-qm", "the item again")
    project.record({"make-add-add": [[reply(ADDS, finish())]]})
    assert project.agentctl("step").code == 0


def test_a_branch_without_a_commit_is_none_that_is_torn(project: Project) -> None:
    project.git("switch", "--quiet", "--orphan", "new")
    assert "there is no commit here yet" in project.agentctl("status").err
