"""Repositories that git allows and few have: sparse ones, of another hash, with another work tree, without old blobs; and dates from outside."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.project import ADDS, Project, call, finish, reply

ITEM = "make-add-add"


@pytest.fixture
def whole(project: Project) -> Project:
    project.write("big/a.txt", "a\n")
    project.write("big/sub/b.txt", "b\n")
    project.write("src/x.py", "x = 1\n")
    project.commit("More")
    project.items("Make add() add")
    return project


@pytest.fixture(params=["cone", "cone, its index too", "patterns"])
def sparse(request: pytest.FixtureRequest, whole: Project) -> Project:
    """Neither `big/` nor its files are checked out."""
    how = {
        "cone": ("--cone", "src", ".agent"),
        "cone, its index too": ("--cone", "--sparse-index", "src", ".agent"),
        "patterns": ("--no-cone", "/*", "!/big/"),
    }[request.param]
    whole.git("sparse-checkout", "set", *how)
    assert not (whole.root / "big").exists()
    return whole


def _files(project: Project) -> set[str]:
    return {path for path in project.git("ls-tree", "-r", "--name-only", "HEAD").split() if not path.startswith(".agent/")}


def test_in_a_sparse_checkout_a_step_lands_what_it_made_and_nothing_else_changes(sparse: Project) -> None:
    before = _files(sparse)
    sparse.record(
        {ITEM: [[reply(ADDS, call("write", path="big/new.txt", content="new\n"), call("read", path="big/a.txt"), call("list", path="."), finish())]]}
    )
    ran = sparse.agentctl("step")
    assert ran.code == 0, ran.err
    assert "big/a.txt isn't checked out here" in ran.err
    assert _files(sparse) == {*before, "big/new.txt"}
    assert (sparse.git("show", "HEAD:big/a.txt"), sparse.status()) == ("a\n", "")
    assert not (sparse.root / "big/a.txt").exists()
    undone = sparse.agentctl("undo", ITEM, "--because", "no")
    assert undone.code == 0, undone.err
    assert (_files(sparse), sparse.status()) == (before, "")
    assert not (sparse.root / "big").exists()


def test_what_a_command_writes_where_nothing_is_checked_out_is_the_steps(sparse: Project) -> None:
    writes = call("run", command="mkdir -p big/sub && echo over > big/sub/b.txt")
    sparse.record({ITEM: [[reply(writes, finish())], [reply(writes, ADDS, finish())]]})
    assert sparse.agentctl("step").code == 4
    assert sparse.status() == ""
    assert sparse.git("show", "HEAD:big/sub/b.txt") == "b\n"
    ran = sparse.agentctl("step")
    assert ran.code == 0, ran.err
    assert (sparse.git("show", "HEAD:big/sub/b.txt"), sparse.status()) == ("over\n", "")


def test_a_repository_of_sha_256_works_as_any_other(whole: Project) -> None:
    shutil.rmtree(whole.root / ".git")
    whole.git("init", "--quiet", "--object-format=sha256", ".")
    whole.commit("All")
    whole.record(
        {
            ITEM: [
                [reply(call("write", path="new.txt", content="n\n"), finish())],
                [reply(call("write", path="new.txt", content="n\n"), ADDS, finish())],
            ]
        }
    )
    assert whole.agentctl("step").code == 4
    assert whole.status() == ""
    ran = whole.agentctl("step")
    assert ran.code == 0, ran.err
    undone = whole.agentctl("undo", ITEM, "--because", "no")
    assert undone.code == 0, undone.err
    assert (whole.status(), (whole.root / "new.txt").exists()) == ("", False)


def test_a_clone_without_old_blobs_works_as_any_other(whole: Project, tmp_path: Path) -> None:
    whole.git("config", "uploadpack.allowFilter", "true")
    subprocess.run(["git", "clone", "--quiet", "--filter=blob:none", f"file://{whole.root}", str(tmp_path / "clone")], check=True)
    clone = Project(tmp_path / "clone", whole.recording)
    clone.record({ITEM: [[reply(ADDS, finish())]]})
    ran = clone.agentctl("step")
    assert ran.code == 0, ran.err
    assert clone.agentctl("undo", ITEM, "--because", "no").code == 0
    assert (clone.read("calc.py"), clone.status()) == (whole.read("calc.py"), "")


def test_where_git_has_its_work_tree_elsewhere_that_is_said_and_nothing_done(whole: Project, tmp_path: Path) -> None:
    shutil.copytree(whole.root, tmp_path / "elsewhere", ignore=shutil.ignore_patterns(".git"))
    whole.git("config", "core.worktree", str(tmp_path / "elsewhere"))
    for command in (["step"], ["status"], ["todo"]):
        ran = whole.agentctl(*command)
        assert (ran.code, "core.worktree" in ran.err) == (1, True)


@pytest.mark.parametrize(("name", "value"), [("GIT_AUTHOR_DATE", "garbage"), ("GIT_COMMITTER_DATE", "1 +0000")])
def test_a_date_from_outside_that_is_none_is_told_before_any_model_is_asked(
    whole: Project, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    ran = whole.agentctl("step")
    assert (ran.code, ran.err.splitlines()[0]) == (1, f"agentctl: git can't date a commit: invalid date format: {value}")


def test_what_git_says_in_two_lines_is_told_whole(whole: Project) -> None:
    whole.git("config", "core.repositoryformatversion", "1")
    whole.git("config", "extensions.nosuch", "true")
    assert "unknown repository extension found: nosuch" in whole.agentctl("status").err
