"""The ids of steps, each taken once: work trees of one repository share refs and ledger, which are sorted by them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent.domain.names import StepId, next_step_id
from agent.durable import alone, read_own, write_hint

_AHEAD = timedelta(minutes=1)  # further ahead is only what a clock that was wrong had said


def claim_step(shared: Path, name: str, now: datetime, latest: StepId | None) -> StepId:
    """An id for `name` at `now`, later than `latest` and than what was claimed before in the folder `shared` of the repository."""
    claimed = shared / "claimed"
    with alone(shared / "claimed.lock"):
        last = _read(claimed)
        if last is not None and last.at - now <= _AHEAD and (latest is None or latest.at < last.at):
            latest = last
        step = next_step_id(name, now.astimezone(UTC), latest)
        write_hint(claimed, step.encode())
    return step


def _read(claimed: Path) -> StepId | None:
    try:
        return StepId.parse(read_own(claimed).decode("utf-8"))
    except (OSError, ValueError):
        return None
