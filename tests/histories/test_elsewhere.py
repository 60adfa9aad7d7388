"""The brief is the same bytes in any clone, time zone and language, whatever became of the steps: squashed, amended, rebased, picked, reverted."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.histories.conftest import world_in
from tests.histories.operations import Operation, attempt_fails, cherry_pick, letter, person_codes, rebase, revert, say, squash, step_lands, switch
from tests.histories.test_histories import APART, MORE, quick
from tests.histories.world import World
from tests.project import Project

Plays = list[tuple[Operation, int, int]]
REWRITING: tuple[Operation, ...] = (cherry_pick, rebase, squash, revert)
PLACES = ({"TZ": "Pacific/Kiritimati", "LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "tr"}, {"TZ": "America/St_Johns", "LC_ALL": "C", "LANG": "de_DE"})

small = st.integers(0, 7)
plays = st.tuples(
    st.lists(st.tuples(st.sampled_from((step_lands, attempt_fails, person_codes, letter, say)), small, small), min_size=1, max_size=3),
    st.lists(st.tuples(st.sampled_from((*REWRITING, step_lands, switch)), small, small), min_size=2, max_size=4),
).map(lambda both: [*both[0], *both[1]])


def _amended(world: World, how: int) -> None:
    """HEAD as a person makes it anew: with another first line, further code, or another author and time; its trailers stay."""
    git = world.project.git
    if how == 1:
        world.project.write("amended.txt", "amended\n")
        git("add", "amended.txt")
    message = git("log", "-1", "--format=%B").strip("\n")
    subject, _, rest = message.partition("\n")
    text = f"Better words for {subject}\n{rest}" if how == 0 else message
    person = ["--author=Somebody Else <else@example.invalid>", "--date=2031-01-01T00:00:00+13:00"] if how == 2 else []
    git("commit", "--quiet", "--amend", "--allow-empty", *person, "--message", text)


@contextmanager
def _in(place: dict[str, str]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in place.items():
            patch.setenv(name, value)
        time.tzset()
        yield
    time.tzset()


def _briefs(project: Project, commits: list[str], items: list[str]) -> list[str]:
    return [project.agentctl("context", "--at", commit, "--item", item).out for commit in commits for item in items]


def _clones(world: World, folder: Path) -> Iterator[Project]:
    """One that has just been made, packed, on another branch; and one that got its branches one by one, with the newest first."""
    origin = f"file://{world.project.root}"
    subprocess.run(["git", "clone", "--quiet", "--branch", "b1", origin, str(folder / "one")], check=True)
    yield Project(folder / "one", Path())
    subprocess.run(["git", "init", "--quiet", "--initial-branch=b1", str(folder / "two")], check=True)
    for name in reversed(world.branches):
        subprocess.run(["git", "fetch", "--quiet", origin, f"{name}:refs/remotes/far/{name}"], cwd=folder / "two", check=True)
    subprocess.run(["git", "reset", "--quiet", "--hard", "far/b1"], cwd=folder / "two", check=True)
    yield Project(folder / "two", Path())


@settings(quick, max_examples=MORE or 2)
@example(operations=[(step_lands, 0, 0), (squash, 0, 1), (revert, 0, 0)], how=0)
@example(operations=[(step_lands, 0, 0), (cherry_pick, 1, 0), (rebase, 0, 0)], how=1)
@given(operations=plays, how=st.integers(0, 2))
def test_any_history_of_rewritten_steps_gives_the_same_brief_elsewhere(
    seed: Path, tmp_path_factory: pytest.TempPathFactory, operations: Plays, how: int
) -> None:
    folder = tmp_path_factory.mktemp("elsewhere")
    world = world_in(folder, seed)
    for operation, a, b in [*APART, *operations]:
        operation(world, a, b)
    _amended(world, how)
    commits = [world.project.git("rev-parse", name).strip() for name in world.branches]
    items = [row["id"] for row in world.project.agentctl("todo", "--json").json][:2]
    here = _briefs(world.project, commits, items)
    assert all(here)
    for clone, place in zip(_clones(world, folder), PLACES, strict=True):
        with _in(place):
            assert _briefs(clone, commits, items) == here
            assert _briefs(clone, commits[::-1], items) == _briefs(world.project, commits[::-1], items)
