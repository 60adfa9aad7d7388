"""What the index says of paths beside their contents: found in each way that git writes it, and git is asked for it only where there may be something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.repository.marks import _PORTION
from agent.repository.repo import Repo, discover
from tests.project import Project

_SUB = "apps/sub"


@pytest.fixture
def repo(project: Project) -> Repo:
    return discover(project.root)


def _link(project: Project, path: str = _SUB) -> None:
    project.git("update-index", "--add", "--cacheinfo", f"160000,{project.head()},{path}")


def _asked(trace: Path) -> list[str]:
    """The commands that git was started for."""
    events = [json.loads(line) for line in trace.read_text("utf-8").splitlines()] if trace.exists() else []
    return [event["name"] for event in events if event["event"] == "cmd_name"]


@pytest.mark.parametrize("written", [("--index-version", "2"), ("--index-version", "4"), ("--split-index",), ("--skip-worktree", "calc.py")])
def test_a_submodule_is_found_however_the_index_is_written(project: Project, repo: Repo, written: tuple[str, ...]) -> None:
    assert repo.gitlinks() == frozenset()
    _link(project)
    project.git("update-index", *written)
    assert repo.gitlinks() == {_SUB}
    project.git("update-index", "--force-remove", _SUB)
    assert repo.gitlinks() == frozenset()


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_submodule_is_found_where_its_mode_lies_in_two_portions_of_the_file(project: Project, repo: Repo, cut: int) -> None:
    place = _place_of_link(project, 1)
    assert _place_of_link(project, 1 + _PORTION - cut - place) == _PORTION - cut
    assert repo.gitlinks() == {_SUB}


def _place_of_link(project: Project, length: int) -> int:
    """Where the index has the submodule's mode, behind as many other files as nearly fill a portion, one of them with a name of this length."""
    blob = project.git("rev-parse", "HEAD:calc.py").strip()
    names = [f"{'x' * 50}{number:04}" for number in range(975)]
    lines = [*(f"100644 {blob}\taa/{name}\n" for name in (*names, "y" * length)), f"160000 {project.head()}\t{_SUB}\n"]
    (project.root / ".git/index").unlink(missing_ok=True)
    project.write(".git/lines", "".join(lines))
    project.git("-c", "index.version=4", "-c", "alias.feed=!git update-index --index-info < .git/lines", "feed")
    return (project.root / ".git/index").read_bytes().index(b"\0\0\xe0\0")


def test_a_submodule_is_found_in_a_sparse_index(project: Project, repo: Repo) -> None:
    """It has folders in the stead of what is in them, but for those that hold a submodule."""
    project.write("far/doc.md", "doc\n")
    project.write("near/doc.md", "doc\n")
    _link(project, "far/sub")
    project.write("wide/doc.md", "doc\n")
    project.commit("far", "far/doc.md", "near/doc.md", "wide/doc.md")
    project.git("sparse-checkout", "set", "--cone", "--sparse-index", "near")
    assert "wide/\n" in project.git("ls-files", "--sparse")
    assert repo.gitlinks() == {"far/sub"}


def test_git_is_not_asked_for_submodules_where_there_is_none(project: Project, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("link", "no more than a name\n")
    project.commit("link")
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(tmp_path / "trace"))
    project.git("mv", "link", "unlinked")
    assert repo.gitlinks() == frozenset()
    assert _asked(tmp_path / "trace") == ["mv"]
    _link(project)
    assert repo.gitlinks() == repo.gitlinks() == {_SUB}
    assert _asked(tmp_path / "trace").count("ls-files") == 1


@pytest.mark.parametrize("flag", ["assume-unchanged", "skip-worktree"])
def test_a_hidden_file_is_told_and_told_anew_when_the_index_has_changed(project: Project, repo: Repo, flag: str) -> None:
    assert not repo.is_hidden("calc.py")
    project.git("update-index", f"--{flag}", "calc.py")
    assert repo.is_hidden("calc.py")
    assert not repo.is_hidden("check.sh")
    project.git("update-index", f"--no-{flag}", "calc.py")
    assert not repo.is_hidden("calc.py")
