"""A step's id is taken once, by whichever work tree of the repository asks for it first."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent.actions.claim import claim_step
from agent.domain.names import StepId

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def test_many_at_once_get_each_their_own_and_all_within_as_many_seconds(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        claimed = list(pool.map(lambda _: claim_step(tmp_path, "x", NOW, None), range(20)))
    assert sorted(one.at for one in claimed) == [NOW + timedelta(seconds=late) for late in range(20)]


def test_what_a_wrong_clock_claimed_or_a_torn_file_says_binds_nobody(tmp_path: Path) -> None:
    claim_step(tmp_path, "x", NOW + timedelta(days=400), None)
    assert claim_step(tmp_path, "x", NOW, None).at == NOW
    (tmp_path / "claimed").write_bytes(b"2026-11-29-1200\xff")
    assert claim_step(tmp_path, "x", NOW, None).at == NOW


def test_an_id_is_later_than_the_branch_s_newest_step_as_well(tmp_path: Path) -> None:
    latest = StepId("2026-11-29", "120030", "other")
    assert claim_step(tmp_path, "x", NOW, latest).at == latest.at + timedelta(seconds=1)
