"""Trees made of tree objects are those that an index makes, and the index of a commit holds exactly the tree that it is to be."""

from __future__ import annotations

import os
from collections.abc import Mapping

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.repository.create import create
from agent.repository.graft import Entry, graft
from agent.repository.repo import Repo
from agent.repository.snapshot import own_index

NAMES = ("a", "a.b", "a0", "B", "ü", "new\nline", "-x")
MODES = ("100644", "100755", "120000")
paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
Files = dict[str, int]
files = st.dictionaries(paths, st.integers(0, 5), max_size=8)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    return create(tmp_path_factory.mktemp("graft"), name="Test User", email="test@example.invalid")


@pytest.fixture(scope="module")
def blobs(repo: Repo) -> list[Entry]:
    return [(MODES[number % 3], repo.git.run("hash-object", "-w", "--stdin", stdin=b"%d" % number).decode().strip()) for number in range(6)]


def _by_index(repo: Repo, tree: str | None, put: Mapping[str, Entry | None]) -> str:
    """What git itself makes of it: what goes away first, then file by file, each taking the place of what is in its way."""
    index = repo.git_dir / "plain.index"
    index.unlink(missing_ok=True)
    env = {"GIT_INDEX_FILE": str(index)}
    repo.git.run("read-tree", *([tree] if tree else ["--empty"]), env=env)
    order = sorted(put.items(), key=lambda one: one[1] is not None)
    lines = b"".join(f"{' '.join(entry) if entry else '0 ' + '0' * 40}\t".encode() + os.fsencode(path) + b"\0" for path, entry in order)
    repo.git.run("update-index", "-z", "--replace", "--index-info", stdin=lines, env=env)
    return repo.git.run("write-tree", env=env).decode().strip()


def _free(some: Mapping[str, object]) -> bool:
    """Whether no path is both a file and a folder."""
    return not any(other.startswith(f"{path}/") for path in some for other in some)


@settings(max_examples=60, deadline=None)
@example(old={"a/a": 1, "a/B": 2}, put={"a": 3, "a/B": None, "a/a": None})
@example(old={"a": 1, "a.b": 2, "a0": 3}, put={"a": None, "a/a": 1})
@example(old={"a/a/a": 1}, put={"a/a/a": None})
@given(old=files.filter(_free), put=st.dictionaries(paths, st.none() | st.integers(0, 5), min_size=1, max_size=6))
def test_any_files_are_put_into_a_tree_as_an_index_puts_them(repo: Repo, blobs: list[Entry], old: Files, put: dict[str, int | None]) -> None:
    there = {path: number for path, number in put.items() if number is not None}
    if not _free(there):
        return
    tree = _by_index(repo, None, {path: blobs[number] for path, number in old.items()})
    entries = {path: None if number is None else blobs[number] for path, number in put.items()}
    assert graft(repo, tree, entries) == _by_index(repo, tree, entries)
    repo.git.run("fsck", "--strict", "--no-dangling", graft(repo, tree, entries))


@settings(max_examples=30, deadline=None)
@given(staged=files.filter(_free), wanted=files.filter(_free).filter(bool))
def test_an_own_index_holds_the_tree_whatever_is_staged(repo: Repo, blobs: list[Entry], staged: Files, wanted: Files) -> None:
    tree = graft(repo, None, {path: blobs[number] for path, number in wanted.items()})
    other = _by_index(repo, None, {path: blobs[number] for path, number in staged.items()})
    repo.git.run("read-tree", other)
    with own_index(repo, tree) as own:
        assert repo.git.run("write-tree", env=own).decode().strip() == tree
    assert repo.git.run("write-tree").decode().strip() == other


def test_an_own_index_holds_the_tree_where_files_are_in_conflict(repo: Repo, blobs: list[Entry]) -> None:
    base, ours, theirs = (_by_index(repo, None, {"a": blobs[number]}) for number in (0, 3, 1))
    repo.git.run("read-tree", "--reset", ours)
    repo.git.run("read-tree", "-i", "-m", base, ours, theirs)
    assert repo.git.run("ls-files", "--unmerged")
    with own_index(repo, base) as own:
        assert repo.git.run("write-tree", env=own).decode().strip() == base
    repo.git.run("read-tree", "--empty")


def test_a_tree_that_is_not_there_is_an_error(repo: Repo, blobs: list[Entry]) -> None:
    with pytest.raises(Exception, match="is no tree"):
        graft(repo, "1" * 40, {"a": blobs[0]})
