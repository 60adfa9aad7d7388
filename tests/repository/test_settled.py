"""What was acknowledged is on disk: files of objects, refs and index, and the folders that name them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project import ADDS, SOURCE, Project, finish, reply


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace isn't installed here")
def test_every_name_of_a_landed_step_is_synced_after_it_was_given(project: Project, tmp_path: Path) -> None:
    project.items("Make add() add")
    project.record({"make-add-add": [[reply(ADDS, finish())]]})
    trace = tmp_path / "trace"
    traced = ["strace", "-f", "-y", "-qq", "-o", str(trace), "-e", "trace=fsync,fdatasync,rename,renameat,renameat2,link,linkat"]
    done = subprocess.run(
        [*traced, sys.executable, "-m", "agent", "step"],
        cwd=project.root, env={**os.environ, "PYTHONPATH": str(SOURCE), "GIT_TEST_FSYNC": "1"}, capture_output=True, check=False,
    )  # fmt: skip
    if b"ptrace" in done.stderr and done.returncode != 0:
        pytest.skip("this machine lets nobody trace a process")
    assert done.returncode == 0, done.stderr
    lines = trace.read_text("utf-8", "replace").splitlines()
    assert _synced_after(lines, given=".git/refs/heads/main", folder=".git/refs/heads>")
    head = project.head()
    assert _synced_after(lines, given=f".git/objects/{head[:2]}/{head[2:]}", folder=f".git/objects/{head[:2]}>")
    assert any("fsync" in line and "/.git/objects/" in line and "tmp_obj" in line for line in lines)
    assert any("fsync" in line and "index.lock" in line for line in lines)


def _synced_after(lines: list[str], given: str, folder: str) -> bool:
    """Whether the folder is synced after the last time that the name was given."""
    places = [place for place, line in enumerate(lines) if given in line and ("rename" in line or "link" in line)]
    return any("fsync" in line and folder in line for line in lines[places[-1] :])
