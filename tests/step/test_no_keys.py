"""No key reaches a commit: not by what a worker says, nor by a check, a hook or a person."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.project import ADDS, CHECK, Project, call, edit, finish, reply

ITEM = "make-add-add"
KEY = "sword-fish-and-chips-4711-with-a-rather-long-tail-so-that-it-is-wrapped"
PIECES = ("sword-fish", "chips-4711", "rather-long", "so-that-it-is-wrapped")
SHAPED = "sk-" + "ant-api03-" + "Ab3dE5fG7hJ9" * 4
TELLS = f"it says {KEY} and {SHAPED} in between a few words, and then it says it once more {KEY}"


@pytest.fixture
def listed(project: Project, monkeypatch: pytest.MonkeyPatch, unconfined: None) -> Project:  # noqa: ARG001  # its checks read keys outside
    monkeypatch.setenv("AGENTCTL_KEY_ENV", "LUNCH")
    monkeypatch.setenv("LUNCH", KEY)
    project.items("Make add() add")
    (project.root.parent / "told").write_text(TELLS)
    return project


def _check(project: Project, tail: str) -> None:
    """A check that prints a key, which it reads outside of the repository, as tools do."""
    project.write("check.sh", f"cat ../told; echo; {tail}\n")
    project.commit("A check that tells too much")


def _red(project: Project) -> None:
    _check(project, "exit 1")
    project.record({ITEM: [[reply(ADDS, finish())]]})
    assert project.agentctl("step").code == 4


def _green(project: Project) -> None:
    _check(project, CHECK)
    project.record({ITEM: [[reply(ADDS, finish())]]})
    assert project.agentctl("step").code == 0


def _summary(project: Project) -> None:
    """A last line that is too long for a summary."""
    for space in range(20, 120, 25):
        _check(project, f"printf '%{space}s' ' ' | tr ' ' x; cat ../told; {CHECK}")
        project.record({ITEM: [[reply(ADDS, finish())]]})
        assert project.agentctl("step").code == 0
        assert project.agentctl("undo", ITEM, "--because", "it says so").code == 0


def _long(project: Project) -> None:
    """Wherever it is cut: a line of several thousand characters, and many lines."""
    _check(project, "for n in $(seq 40); do echo $n; printf %s $(seq $n); cat ../told ../told ../told ../told ../told; echo; done; exit 1")
    project.record({ITEM: [[reply(ADDS, finish())]]})
    assert project.agentctl("step").code == 4


def _hook(project: Project) -> None:
    hook = project.root / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\ngit diff --cached --quiet -- calc.py || { cat ../told; exit 1; }\n")
    hook.chmod(0o755)
    project.record({ITEM: [[reply(ADDS, finish())]]})
    assert project.agentctl("step").code == 4


def _worker(project: Project) -> None:
    calls: list[Any] = [
        ADDS,
        call("propose", title=f"Use {KEY}", text=TELLS, check=f"curl -H {KEY} x"),
        call("remember", title=f"So {KEY}", text=TELLS),
    ]
    project.record({ITEM: [[reply(*calls, finish(TELLS, TELLS))]]})
    assert project.agentctl("step").code == 4


def _failing_worker(project: Project) -> None:
    calls: list[Any] = [edit("calc.py", "a - b", "a * b"), call("remember", title=f"So {KEY}", text=TELLS)]
    project.record({ITEM: [[reply(*calls, finish(TELLS, TELLS))]]})
    assert project.agentctl("step").code == 4


def _question(project: Project) -> None:
    project.record({ITEM: [[reply(call("ask", question=TELLS))]]})
    assert project.agentctl("step").code == 6


def _plan(project: Project) -> None:
    project.record({}, plan=[{"replies": [reply(call("propose", title=f"Use {KEY}", text=TELLS), finish(TELLS, TELLS))]}])
    ran = project.agentctl("plan", "--goal", TELLS)
    assert ran.code == 0, ran.err


def _letter(project: Project) -> None:
    assert project.agentctl("note", f"{KEY} {TELLS}").code == 0


def _person(project: Project) -> None:
    assert project.agentctl("todo", "done", ITEM, "--because", TELLS).code == 0


def _undo(project: Project) -> None:
    project.record({ITEM: [[reply(ADDS, finish())]]})
    assert project.agentctl("step").code == 0
    assert project.agentctl("undo", ITEM, "--because", TELLS).code == 0


WAYS = (_red, _green, _summary, _long, _hook, _worker, _failing_worker, _question, _plan, _letter, _person, _undo)


@pytest.mark.parametrize("way", WAYS)
def test_no_piece_of_a_key_is_in_any_commit(listed: Project, way: Callable[[Project], None]) -> None:
    before = listed.head()
    way(listed)
    written = listed.git("log", "-p", "--format=%B", f"{before}..HEAD")
    assert "it says" in written or way is _green
    assert "[redacted]" in written
    assert [piece for piece in (*PIECES, SHAPED[:16], SHAPED[-12:]) if piece in written] == []
    assert KEY[:10] not in listed.git("log", "--name-only", "--format=", f"{before}..HEAD")
