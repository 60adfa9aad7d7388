"""Killed around its calls, agentctl has in its ledger every call whose answer it had acted on, and sets money aside for the others."""

from __future__ import annotations

from pathlib import Path

from tests.kill.ledger import counted


def test_the_ledger_holds_every_call_that_was_answered_and_read_and_holds_stand_for_the_rest(tmp_path: Path) -> None:
    found = counted(tmp_path, kills=5, seed=1)
    assert found.faults == []
    assert (len(found.last), found.ledger + len(found.lost)) == (5, found.requests)
