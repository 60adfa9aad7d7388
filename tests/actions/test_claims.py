"""What a note claims: whether it may name a new file is told without asking git for all of them, and never missed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.actions.claims import claims, fresh, may_claim_new
from agent.repository.repo import Repo, discover
from tests.project import Project

NAMES = st.sampled_from(["a", "b c", "é", "é", "calc.py", "new", "x.txt", "x", "(1)", ".git-x"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
AROUND = st.sampled_from(["", " ", "`", "./", "/", ".", "-", "apps/"])


@st.composite
def trees_and_notes(draw: st.DrawFn) -> tuple[list[str], list[str], str]:
    """Paths of new files, paths that are known, and a note that names some of both, folders above them, and others."""
    there = draw(st.lists(PATHS, min_size=1, max_size=4))
    known = draw(st.lists(PATHS, max_size=2))
    of_them = st.sampled_from(there).flatmap(lambda path: st.sampled_from([path, f"{path.rpartition('/')[0]}/", f"{path.split('/')[0]}/"]))
    words = draw(st.lists(st.tuples(AROUND, of_them | PATHS, AROUND).map("".join), max_size=3))
    return there, known, "\n".join(words)


@pytest.fixture
def parent(project: Project) -> Project:
    """A list in a folder of its own, below the top; some of the names are committed."""
    for path in ("apps/.agent/config.yaml", "apps/a/x.txt", "a/calc.py"):
        project.write(path, "committed\n")
    project.write(".gitignore", "x\n")
    project.commit("apps")
    return project


def _fill(root: Path, paths: list[str]) -> None:
    for path in paths:
        file = root / path
        if any(folder.is_file() for folder in file.parents) or file.exists():
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("new\n")


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trees_and_notes(), st.sampled_from(["", "apps"]), st.sampled_from(["", "apps"]))
def test_a_new_file_that_a_note_claims_is_never_missed(parent: Project, drawn: tuple[list[str], list[str], str], root: str, below: str) -> None:
    there, known, note = drawn
    repo: Repo = discover(parent.root, at=parent.root / root)
    try:
        _fill(parent.root / below, there)
        new = fresh(repo.look().untracked, known)
        if any(claims(repo, "HEAD", note, path) for path in new):
            assert may_claim_new(repo, "HEAD", note, known)
    finally:
        for path in there:
            first = parent.root / below / path.split("/")[0]
            shutil.rmtree(first, ignore_errors=True)
            first.unlink(missing_ok=True)
        parent.git("checkout", "--quiet", "HEAD", "--", ".")


def test_a_note_that_names_only_what_is_known_claims_nothing_new(parent: Project) -> None:
    repo = discover(parent.root)
    parent.write("made.py", "by a tool\n")
    parent.write("pkg/one.py", "by a tool\n")
    parent.write("mine/idea.md", "mine\n")
    note = "calc.py, a/calc.py and pkg/one.py are mended; made.py is new. See mine/idea.md, and what x/y.py would be."
    known = ["made.py", "pkg/one.py", "mine/"]
    assert not may_claim_new(repo, "HEAD", note, known)
    for new in ("x/y.py", "mine.py"):
        parent.write(new, "new\n")
        assert may_claim_new(repo, "HEAD", f"{note} mine.py", known), new
        (parent.root / new).unlink()
    assert may_claim_new(repo, "HEAD", f"{note} pkg/ is a folder.", known)


def test_a_link_is_no_folder_of_the_work_tree(parent: Project, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far/new.py").write_text("elsewhere\n")
    (parent.root / "far").symlink_to(tmp_path / "far")
    parent.commit("a link", "far")
    assert not may_claim_new(discover(parent.root), "HEAD", "far/new.py", [])


def test_a_note_names_files_as_its_list_does_and_those_beside_it_from_the_top(parent: Project) -> None:
    repo = discover(parent.root, at=parent.root / "apps")
    assert not may_claim_new(repo, "HEAD", "a/new.py and other/new.py", [])
    for path in ("apps/a/new.py", "other/new.py"):
        parent.write(path, "new\n")
        assert may_claim_new(repo, "HEAD", "a/new.py and other/new.py", []), path
        (parent.root / path).unlink()
