"""Whoever takes the lock learns whether the last holder let go of it."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from agent.lock import Predecessor, locked
from tests.project import SOURCE

_DIES = "import os, sys, signal; from pathlib import Path; from agent.lock import locked\nwith locked(Path(sys.argv[1])): os.kill(os.getpid(), signal.SIGKILL)"


def _held(folder: Path) -> Predecessor:
    with locked(folder) as before:
        return before


def _die_holding(folder: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", _DIES, str(folder)], cwd=SOURCE, check=False)
    assert ended.returncode == -9


def test_who_let_go_is_not_dead(tmp_path: Path) -> None:
    assert _held(tmp_path) == Predecessor()
    with suppress(KeyError), locked(tmp_path):
        raise KeyError
    after = _held(tmp_path)
    assert after.mark
    assert after.dead == 0.0


def test_of_several_that_died_the_first_tells_since_when(tmp_path: Path) -> None:
    began = time.time()
    _die_holding(tmp_path)
    first = time.time()
    _die_holding(tmp_path)
    before = _held(tmp_path)
    assert began <= before.dead <= first
    assert _held(tmp_path).dead == 0.0


@pytest.mark.parametrize(("told", "dead"), [("", 0.0), ("7\n", 0.0), ("7\nabc\n", 0.0), ("7\nabc\n17e", 0.0), ("7\nabc\n170.5\n", 170.5)])
def test_a_file_that_is_torn_or_an_older_agentctl_s_tells_of_no_death(tmp_path: Path, told: str, dead: float) -> None:
    (tmp_path / "lock").write_text(told)
    assert _held(tmp_path).dead == dead
