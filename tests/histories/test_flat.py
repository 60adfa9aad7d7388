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
