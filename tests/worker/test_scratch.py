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


def test_a_trial_that_is_killed_leaves_nothing_that_the_next_does_not_take_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed at several moments, from the making of its folder on (`tempfile` itself tries the place with a file before that)."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    env = {"PYTHONPATH": str(SOURCE), "TMPDIR": str(tmp_path), "PATH": os.environ["PATH"]}
    script = "from agent.worker.sandbox.choice import mechanisms, tried\nwhile True:\n    for one in mechanisms()[:2]:\n        tried(one.name)\n    tried.cache_clear()"
    for wait in (0.0, 0.02, 0.05):
        with subprocess.Popen([sys.executable, "-c", script], env=env) as process:
            while not list(tmp_path.glob("agentctl-scratch-*")):
                time.sleep(0.001)
            time.sleep(wait)
            process.kill()
        left = list(tmp_path.iterdir())
        assert all(path.name.startswith("agentctl-scratch-") for path in left)
        for folder in left:
            os.utime(folder, (0, 0))
        with scratch_folder():
            pass
        assert list(tmp_path.iterdir()) == []
