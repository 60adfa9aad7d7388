"""The brief is no larger after many steps than after few, and says what it leaves out."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from benchmarks.histories import Size, at_steps, repository
from tests.project import Project

_SIZE = Size(items=60, steps=400, lessons=200)
_UNTRIED = "move-part-58-of-module-58-to-the-new"


@pytest.fixture(scope="module")
def long(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("bench")))
        root = repository(_SIZE, {**os.environ, "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"})
    return Project(root, Path())


def test_at_ten_a_hundred_and_four_hundred_steps_the_brief_differs_by_less_than_five_per_cent(long: Project) -> None:
    commits = at_steps(long.root, os.environ, (10, 100, 400))
    sizes = [long.agentctl("context", "--at", commit, "--json", "--item", _UNTRIED).json["tokens"] for commit in commits]
    assert max(sizes) < min(sizes) * 1.05, sizes
    assert long.agentctl("context", "--json").json["tokens"] <= 12_000


def test_a_shallow_clone_says_what_it_lacks_and_a_whole_one_says_nothing_of_it(long: Project, tmp_path: Path) -> None:
    clone = tmp_path / "shallow"
    subprocess.run(["git", "clone", "--quiet", "--depth", "20", f"file://{long.root}", str(clone)], check=True)
    told = "This clone is shallow: attempts, reverts and people's commits before its oldest commit are not told of here."
    shallow = Project(clone, Path())
    assert told in shallow.agentctl("context").out
    shallow.git("fetch", "--quiet", "--unshallow")
    assert shallow.agentctl("context").out == long.agentctl("context").out
    assert told not in long.agentctl("context").out


def test_of_more_commits_than_are_read_the_number_of_the_others_is_told(project: Project) -> None:
    project.items("Mend the sum")
    project.agentctl("note", "Begin here.")
    commits = "".join(
        f"commit refs/heads/main\ncommitter P <p@example.invalid> {4000000000 + number} +0000\ndata 7\nCommit\n{'from refs/heads/main^0' if number == 0 else ''}\n"
        f"M 100644 inline file-{number}.txt\ndata 1\nx\n"
        for number in range(260)
    )
    subprocess.run(["git", "fast-import", "--quiet", "--force"], cwd=project.root, input=commits.encode(), check=True)
    out = project.agentctl("context").out
    shown = out.count(": Commit (file-")
    assert "(file-259.txt)" in out
    assert 0 < shown <= 200
    assert f"[{260 - shown} older left out; the rest: git log]" in out


def test_an_item_that_was_tried_three_hundred_times_has_a_brief_within_its_budget_that_says_what_is_left_out(project: Project) -> None:
    project.write(".agent/config.yaml", "brief_tokens: 6000\n")
    project.commit("A small brief")
    project.items("Mend the sum", "Write it up")
    before = project.agentctl("context", "--item", "mend-the-sum", "--json").json["tokens"]
    commits = "".join(_failed(number) for number in range(300))
    subprocess.run(["git", "fast-import", "--quiet", "--force"], cwd=project.root, input=commits.encode(), check=True)
    brief = project.agentctl("context", "--item", "mend-the-sum", "--json").json
    attempts = next(part for part in brief["parts"] if part["name"] == "attempts")
    assert before < brief["tokens"] <= 6000
    assert attempts["cut"]
    assert [part["name"] for part in brief["parts"] if part["cut"]] == ["attempts"]
    shown = brief["text"].count("What was tried in attempt")
    assert "What was tried in attempt 299," in brief["text"]
    assert f"[{300 - shown} older left out; the rest: agentctl log" in brief["text"]
    other = project.agentctl("context", "--item", "write-it-up", "--json").json
    assert "What was tried in attempt 298," not in other["text"]


def _failed(number: int) -> str:
    """A commit with the note of a failed attempt, as fast-import reads it."""
    name = f"2026-11-29/{10 + number // 60:02d}{number % 60:02d}00-mend-the-sum.failed.md"
    note = f"---\nmodel: m\n---\n# Mend the sum\n\nWhat was tried in attempt {number}, and failed: {'the carry of the third digit again; ' * 12}\n"
    begin = "" if number else "from refs/heads/main^0\n"
    return (
        f"commit refs/heads/main\ncommitter P <p@example.invalid> {4000000000 + number} +0000\ndata 7\nAttempt\n"
        f"{begin}M 100644 inline .agent/notes/{name}\ndata {len(note)}\n{note}\n"
    )
