"""What the log says is the same with a cache as without, whatever commit the cache is of."""

from __future__ import annotations

from typing import Any

import pytest

from agent.cache import keep
from agent.repository import facts
from agent.repository.facts import Past, read_past
from agent.repository.repo import Repo, discover
from tests.project import Project


@pytest.fixture(autouse=True)
def keeps_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "_WORTH_KEEPING", 0)


@pytest.fixture
def tips(project: Project) -> list[str]:
    """Commits of two branches and of their merge; one branch undoes what the other builds on."""
    project.write(".agent/todo/a.md", "# A\n")
    project.write(".agent/notes/2026-11-29/100000-a.done.md", "# A\n\nDone by one.\n")
    base = project.commit("a\n\nAgent-Step: 2026-11-29-100000-a\nAgent-Outcome: done\nAgent-Tokens: 5 in, 0 cached, 1 out")
    project.git("revert", "--no-edit", base)
    undone = project.head()
    project.git("switch", "-q", "-c", "other", base)
    project.write(".agent/todo/b.md", "# B\n")
    other = project.commit("b")
    project.git("merge", "-q", "--no-edit", "main")
    return [base, undone, other, project.head()]


def _size(past: Past) -> int:
    return sum(map(len, past))


def _without_cache(repo: Repo, commit: str) -> Past:
    for file in (repo.private / "cache").glob("history-*"):
        file.unlink()
    return read_past(repo, commit)


def test_a_cache_of_any_other_commit_changes_nothing(project: Project, tips: list[str]) -> None:
    repo = discover(project.root)
    plain = {commit: _without_cache(repo, commit) for commit in tips}
    assert _size(plain[tips[-1]]) > _size(plain[tips[0]])
    for before in tips:
        for commit in tips:
            _without_cache(repo, before)
            assert list((repo.private / "cache").glob("history-*"))
            assert read_past(repo, commit) == plain[commit]
            assert read_past(repo, commit) == plain[commit]


@pytest.mark.parametrize("broken", [b"", b"{}", b'["", "%s", [[], [], [], []]]' % (b"0" * 40)])
def test_a_broken_cache_counts_for_nothing(project: Project, tips: list[str], broken: bytes) -> None:
    repo = discover(project.root)
    plain = _without_cache(repo, tips[-1])
    next((repo.private / "cache").glob("history-*")).write_bytes(broken)
    assert read_past(repo, tips[-1]) == plain


@pytest.mark.parametrize("foreign", [["", "0" * 40, [[], [], [], []]], ["x/", "{head}", [[], [], [], []]]])
def test_a_cache_of_another_folder_or_of_a_commit_that_is_gone_counts_for_nothing(project: Project, tips: list[str], foreign: list[Any]) -> None:
    repo = discover(project.root)
    plain = _without_cache(repo, tips[-1])
    keep(next((repo.private / "cache").glob("history-*")), [word.format(head=tips[-1]) if isinstance(word, str) else word for word in foreign])
    assert read_past(repo, tips[-1]) == plain


def test_a_shallow_clone_keeps_nothing_that_would_outlive_it(project: Project, tips: list[str]) -> None:
    repo = discover(project.root)
    plain = _without_cache(repo, tips[-1])
    clone = project.root.with_name("clone")
    project.git("clone", "-q", "--depth=1", f"file://{project.root}", str(clone))
    shallow = discover(clone)
    assert _size(read_past(shallow, tips[-1])) < _size(plain)
    Project(clone, project.recording).git("fetch", "-q", "--unshallow")
    assert read_past(shallow, tips[-1]) == plain
