"""A command whose agentctl is killed doesn't go on by itself, however far its sandbox had come."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.lock import MARK
from agent.worker.processes import end_marked
from agent.worker.sandbox.bubblewrap import Bubblewrap
from tests.project import SOURCE

_LATE = 1.5  # seconds that the sandbox takes to begin: a busy machine needs as long to see that it has begun
_RUNS = """
import os, sys
from pathlib import Path
from agent.domain.config import SandboxSettings
from agent.worker.sandbox.bubblewrap import Bubblewrap
from agent.worker.sandbox.confines import confine
from agent.worker.scratch import scratch_folder
from agent.worker.shell import Shell, clean_environment
tree, slow = map(Path, sys.argv[1:])
with scratch_folder() as scratch:
    confines = confine(tree, [], scratch, SandboxSettings(), os.environ)
    Shell(tree, clean_environment(os.environ), Bubblewrap(slow), confines, SandboxSettings(), scratch).run("echo late > late.txt", 20)
"""


@pytest.mark.skipif(bool(Bubblewrap().absent()), reason="bubblewrap isn't installed")
def test_a_sandbox_that_was_only_beginning_when_agentctl_was_killed_is_found_and_ended(tmp_path: Path) -> None:
    tree, begun, slow = tmp_path / "tree", tmp_path / "begun", tmp_path / "bwrap"
    tree.mkdir()
    slow.write_text(f'#!/bin/sh\n: > {begun}\n/bin/sleep {_LATE}\nexec {Bubblewrap().program} "$@"\n')
    slow.chmod(0o755)
    env = {**os.environ, "PYTHONPATH": str(SOURCE), "TMPDIR": str(tmp_path), MARK: "a-step-of-this-test"}
    agent = subprocess.Popen([sys.executable, "-c", _RUNS, str(tree), str(slow)], env=env)
    while not begun.exists():
        time.sleep(0.01)
    agent.kill()
    agent.wait()
    end_marked(f"{MARK}=a-step-of-this-test", 1.0)
    time.sleep(2 * _LATE)
    assert list(tree.iterdir()) == []
