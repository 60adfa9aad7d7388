"""What is written out and taken up by handles is byte for byte what git would make of it: filters, line ends, modes, links."""

from __future__ import annotations

import shutil

import pytest

from agent.errors import AgentctlError
from agent.repository.repo import discover
from agent.repository.trees import tree_of_work
from agent.repository.writing import put_back, write_out
from tests.project import Project


def changed_at_all(project: Project) -> str:
    """What git would have to look into: files whose size or time isn't what the index says."""
    return project.git("diff-files", "--name-only")


def test_whatever_a_step_made_of_files_they_are_put_back_and_git_sees_no_change(project: Project) -> None:
    project.write("run.sh", "#!/bin/sh\n").chmod(0o755)
    project.write("a/deep/file", "one\n")
    project.write("b", "two\n")
    project.write("c/file", "three\n")
    (project.root / "link").symlink_to("b")
    head = project.commit("files of all kinds")
    (project.root / "run.sh").chmod(0o644)
    shutil.rmtree(project.root / "a")
    (project.root / "a").write_text("a file now\n")
    (project.root / "b").unlink()
    project.write("b/c/d", "a folder now\n")
    shutil.rmtree(project.root / "c")
    (project.root / "c").symlink_to("/tmp")  # noqa: S108 - a link that leads outside
    (project.root / "link").unlink()
    project.write("link", "a file now\n")
    project.write("new", "x\n")
    project.git("add", "new")
    put_back(discover(project.root), ["run.sh", "a/deep/file", "b", "c/file", "link", "new"], head)
    assert project.status() == ""
    assert changed_at_all(project) == ""
    assert (project.root / "link").is_symlink()


def test_line_ends_follow_the_attributes_that_are_put_back_along(project: Project) -> None:
    project.write("z.txt", "one\n")
    head = project.commit("lf")
    project.write(".gitattributes", "*.txt text eol=crlf\n")
    project.write("z.txt", "two\r\n")
    repo = discover(project.root)
    later = tree_of_work(repo, head, [".gitattributes"])
    assert repo.blobs([f"{later}:z.txt"]) == [b"two\n"]
    put_back(repo, [".gitattributes", "z.txt"], head)
    assert (project.root / "z.txt").read_bytes() == b"one\n"
    write_out(repo, later, ["z.txt", ".gitattributes"])
    assert (project.root / "z.txt").read_bytes() == b"two\r\n"


def test_filters_run_in_the_work_tree_whichever_way_the_bytes_go(project: Project) -> None:
    project.write("tools/upper.sh", "tr a-z A-Z\n")
    project.write("tools/lower.sh", "tr A-Z a-z\n")
    project.write(".gitattributes", "*.up filter=up\n")
    for way, script in (("clean", "upper"), ("smudge", "lower")):
        project.git("config", f"filter.up.{way}", f"sh tools/{script}.sh")
    project.write("one.up", "hello\n")
    head = project.commit("filtered")
    repo = discover(project.root)
    assert repo.blobs([f"{head}:one.up"]) == [b"HELLO\n"]
    project.write("one.up", "goodbye\n")
    for _ in range(2):
        assert repo.blobs([f"{tree_of_work(repo, head, [])}:one.up"]) == [b"GOODBYE\n"]
    put_back(repo, ["one.up"], head)
    assert project.read("one.up") == "hello\n"
    assert project.status() == ""


def test_a_filter_that_must_work_and_does_not_keeps_no_other_file_from_being_put_back(project: Project) -> None:
    project.write(".gitattributes", "*.up filter=up\n")
    for name in ("a.txt", "one.up"):
        project.write(name, "hello\n")
    head = project.commit("filtered")
    for name in ("a.txt", "one.up"):
        project.write(name, "other\n")
    project.git("config", "filter.up.clean", "cat")
    project.git("config", "filter.up.smudge", "false")
    project.git("config", "filter.up.required", "true")
    with pytest.raises(AgentctlError, match=r"can't be written: one\.up .*filter"):
        write_out(discover(project.root), head, ["a.txt", "one.up"])
    assert (project.read("a.txt"), project.read("one.up")) == ("hello\n", "other\n")


def test_what_the_tree_does_not_hold_is_named_and_the_rest_is_written(project: Project) -> None:
    head = project.head()
    project.write("calc.py", "x\n")
    with pytest.raises(AgentctlError, match=r"can't be written: nowhere"):
        write_out(discover(project.root), head, ["nowhere", "calc.py"])
    assert project.status() == ""
