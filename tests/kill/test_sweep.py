"""Killed at a system call of its own or of a git that it started, agentctl goes on as if nothing had been; a few of all points, `make kill-sweep` takes each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.kill.sweep import SCENARIOS, STRACE, Ends, Sweep

NAMES = ("a step that lands", "a step that goes on from a killed one", "an undo")
EACH = 2  # points for each scenario and way to end


@pytest.mark.skipif(STRACE is None, reason="strace is not installed")
@pytest.mark.parametrize("name", NAMES)
def test_a_kill_at_a_system_call_changes_nothing_in_the_end(name: str, tmp_path: Path) -> None:
    sweep = Sweep(SCENARIOS[name], tmp_path)
    for ends in Ends:
        points = sweep.points_of(ends)
        assert points, "strace saw nothing"
        stride = len(points) // EACH + 1
        for point in points[stride // 2 :: stride]:
            assert sweep.at(ends, point) == [], f"{ends}, before {point}"


@pytest.mark.skipif(STRACE is None, reason="strace is not installed")
@pytest.mark.parametrize(
    ("name", "call"),
    [
        pytest.param("a step that lands", r'^rename\(.*/\.git/index"\)', id="while the index follows the commit, which leaves nothing staged"),
        pytest.param("a step that fails its gate", r"^write\(.*/agentctl/work-", id="while a failed attempt is put back, whose note isn't lost"),
    ],
)
def test_a_git_that_dies_alone_changes_nothing_in_the_end(name: str, call: str, tmp_path: Path) -> None:
    sweep = Sweep(SCENARIOS[name], tmp_path)
    told = [point for point in sweep.points_of(Ends.GIT) if re.search(call, point.told)]
    for point in told[-2:]:
        assert sweep.at(Ends.GIT, point) == [], f"before {point}"


@pytest.mark.skipif(STRACE is None, reason="strace is not installed")
def test_a_lock_of_git_s_that_was_left_before_the_journal_began_is_taken_away(tmp_path: Path) -> None:
    sweep = Sweep(SCENARIOS["a step that lands"], tmp_path)
    first = next(point for point in sweep.points_of(Ends.BOTH) if re.search(r"/\.git/index\.lock", point.told))
    assert sweep.at(Ends.BOTH, first) == []
