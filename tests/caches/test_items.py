"""The list is the same with a cache as without, whatever commit the cache is of."""

from __future__ import annotations

import pytest

from agent.domain.frontmatter import BadFileError
from agent.domain.todo import Item
from agent.repository import items
from agent.repository.folder import read_folder
from agent.repository.items import read_items
from agent.repository.repo import Repo, discover
from tests.project import Project

_WHOLE = """\
---
order: 2.5
after: [b, "c"]
checks: ["make x", "echo 'ü'"]
allow: ["weaker-tests"]
---
# Ä title

Two lines\r
of text.
"""


@pytest.fixture(autouse=True)
def keeps_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(items, "_WORTH_KEEPING", 0)


def _read(repo: Repo, commit: str) -> tuple[Item, ...]:
    return read_items(repo, [entry for entry in read_folder(repo, commit).files if "/todo/" in entry.path])


def _without_cache(repo: Repo, commit: str) -> tuple[Item, ...]:
    for file in (repo.private / "cache").glob("items-*"):
        file.unlink()
    return _read(repo, commit)


@pytest.fixture
def commits(project: Project) -> list[str]:
    """Lists with an item of all keys, with a twin of it, with one changed, one taken out, one renamed."""
    project.write(".agent/todo/a.md", _WHOLE)
    project.write(".agent/todo/b.md", "B\n")
    found = [project.commit("two")]
    project.write(".agent/todo/twin.md", _WHOLE)
    found.append(project.commit("a twin"))
    project.write(".agent/todo/a.md", _WHOLE.replace("2.5", "0"))
    found.append(project.commit("changed"))
    project.git("rm", "-q", ".agent/todo/twin.md")
    project.git("mv", ".agent/todo/b.md", ".agent/todo/c.md")
    return [*found, project.commit("renamed")]


def test_a_cache_of_any_other_commit_changes_nothing(project: Project, commits: list[str]) -> None:
    repo = discover(project.root)
    plain = {commit: _without_cache(repo, commit) for commit in commits}
    assert len(set(plain.values())) == len(commits)
    assert Item("a", "Ä title", "Two lines\nof text.", 2.5, ("b", "c"), ("make x", "echo 'ü'"), ("weaker-tests",)) in plain[commits[0]]
    for before in commits:
        for commit in commits:
            _without_cache(repo, before)
            assert list((repo.private / "cache").glob("items-*"))
            assert _read(repo, commit) == plain[commit]
            assert _read(repo, commit) == plain[commit]


def test_what_cannot_be_read_is_told_again_each_time(project: Project, commits: list[str]) -> None:
    repo = discover(project.root)
    project.write(".agent/todo/b.md", "---\norder: none\n---\n# B\n")
    broken = project.commit("broken")
    for _ in range(2):
        _read(repo, commits[-1])
        with pytest.raises(BadFileError, match="order wants a number"):
            _read(repo, broken)


@pytest.mark.parametrize("damage", [b"", b"{}", b'{"a.md": []}'])
def test_a_damaged_cache_counts_for_nothing(project: Project, commits: list[str], damage: bytes) -> None:
    repo = discover(project.root)
    plain = _without_cache(repo, commits[0])
    [file] = (repo.private / "cache").glob("items-*")
    file.write_bytes(damage)
    assert _read(repo, commits[0]) == plain
