"""Killed at random moments, again and again, agentctl loses no step, doubles none, and touches nothing of the person's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.kill.driver import Tally, killed

KILLS = int(os.environ.get("KILLS", "50"))  # for each seed; `make kill-test N=10000` goes on for hours


@pytest.mark.parametrize("seed", [1, 2])
def test_a_list_that_is_worked_off_through_kills_ends_as_an_undisturbed_one(seed: int, tmp_path: Path) -> None:
    tally = Tally()
    for tally in killed(KILLS, seed, tmp_path):
        assert tally.faults == []
    assert tally.kills >= KILLS
