"""A process swaps a folder for a link that leads outside while git and agentctl take files up, write them and put them back."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.actions.putback import held, take_away
from agent.errors import AgentctlError
from agent.repository.landing import commit_tree
from agent.repository.repo import Repo, discover
from agent.repository.trees import tree_of_work
from agent.repository.writing import look_again, put_back, write_out
from tests.project import Project
from tests.racer import swapping

ROUNDS = 15
SECRET = b"herring\n"
FILES = ["sub/deep/f.txt", "sub/g.txt"]


@pytest.fixture
def outside(project: Project) -> Iterator[Path]:
    """A folder that `way` leads to, made like `sub`, which it is swapped with."""
    place = project.root.parent / "outside"
    for path in FILES:
        project.write(path, "inside\n")
        file = place / path.removeprefix("sub/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(SECRET)
    project.commit("files in a folder")
    (project.root / "way").symlink_to(place)
    with swapping(project.root / "sub", project.root / "way"):
        yield place
    there = {path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file()}
    assert there == dict.fromkeys(("deep/f.txt", "g.txt"), SECRET)


def _rearm(root: Path) -> None:
    """Make the link again that writing files out has taken away."""
    with contextlib.suppress(OSError):
        if not (root / "sub").is_symlink() and not (root / "way").is_symlink():
            shutil.rmtree(root / "way")
            (root / "way").symlink_to(root.parent / "outside")


WRITING: dict[str, Callable[[Repo, str], object]] = {
    "write_out": lambda repo, head: write_out(repo, head, FILES),
    "put_back": lambda repo, head: put_back(repo, FILES, head),
    "look_again": lambda repo, head: look_again(repo, FILES, head),
    "take_away": lambda repo, _: [take_away(repo, path) for path in FILES],
}


@pytest.mark.parametrize("act", WRITING.values(), ids=WRITING)
def test_nothing_outside_is_written_or_removed(project: Project, outside: Path, act: Callable[[Repo, str], object]) -> None:
    repo, head = discover(project.root), project.head()
    for _ in range(ROUNDS):
        with contextlib.suppress(AgentctlError):
            act(repo, head)
        _rearm(project.root)
    assert outside.is_dir()


def test_nothing_outside_gets_into_a_tree_or_is_kept(project: Project, outside: Path) -> None:
    repo, head = discover(project.root), project.head()
    trees = set()
    for _ in range(ROUNDS):
        with contextlib.suppress(AgentctlError):  # git itself has seen the link
            trees.add(tree_of_work(repo, head, [*FILES, "way/g.txt", "way/deep/f.txt"]))
    assert trees
    for path in FILES:
        with contextlib.suppress(AgentctlError):
            kept = held(repo, path)
            assert kept is None or repo.blobs([kept[0]]) == [b"inside\n"]
    for tree in trees:
        paths = project.git("ls-tree", "-r", "--name-only", tree).split()
        assert SECRET not in repo.blobs([f"{tree}:{path}" for path in paths])
    assert outside.is_dir()


def test_nothing_outside_gets_into_a_commit_of_own_files(project: Project, outside: Path) -> None:
    repo, head = discover(project.root), project.head()
    for _ in range(ROUNDS):
        made = None
        with contextlib.suppress(AgentctlError):
            made = commit_tree(repo, repo.head(), None, ["sub/g.txt"], "own files\n")
        assert made is None or made.commit is None or repo.blobs([f"{made.commit}:sub/g.txt"]) == [b"inside\n"]
    assert SECRET.decode() not in project.git("log", "-p", f"{head}..")
    assert outside.is_dir()
