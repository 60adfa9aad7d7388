"""Killed at random moments, again and again, agentctl loses no step, doubles none, and touches nothing of the person's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.kill.driver import Tally, killed, undisturbed
from tests.kill.world import Outcome

KILLS = int(os.environ.get("KILLS", "50"))  # for each seed; `make kill-test N=10000` goes on for hours


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, float]:
    return undisturbed(tmp_path_factory.mktemp("undisturbed") / "world")


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5, 6])
def test_a_list_that_is_worked_off_through_kills_ends_as_an_undisturbed_one(seed: int, tmp_path: Path, alone: tuple[Outcome, float]) -> None:
    tally = Tally()
    for tally in killed(KILLS, seed, tmp_path, *alone):
        assert tally.faults == []
    assert tally.kills >= KILLS
