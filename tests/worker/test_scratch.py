"""Scratch folders go with their process, also where it was killed: the next one takes them away, and no other's."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from agent.worker.scratch import scratch_folder
from tests.project import SOURCE

_DIES = "import os\nfrom agent.worker.scratch import scratch_folder\nwith scratch_folder() as folder:\n    print(folder, flush=True)\n    os.kill(os.getpid(), 9)"


def test_what_a_killed_process_left_is_taken_away_and_what_a_living_one_uses_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    died = subprocess.run([sys.executable, "-c", _DIES], env={"PYTHONPATH": str(SOURCE), "TMPDIR": str(tmp_path)}, capture_output=True, check=False)
    left = Path(died.stdout.decode().strip())
    (left / "home/locked").mkdir(mode=0o500)
    long_ago = time.time() - 3600
    with scratch_folder() as living:
        for folder in (left, living):
            os.utime(folder, (long_ago, long_ago))
        with scratch_folder() as another:
            assert (left.exists(), living.exists(), another.exists()) == (False, True, True)
    assert list(tmp_path.iterdir()) == []
