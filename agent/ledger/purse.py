"""The purse: every call of a model is paid from it, and none is made that could pass a cap."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import Struct, convert

from agent.domain.caps import Amount, Cap, caps_of
from agent.domain.config import Limits
from agent.domain.shape import Quantity, parsed
from agent.domain.usage import Usage
from agent.durable import alone, read_own, write_whole
from agent.errors import AgentctlError, Exit
from agent.ledger.calls import Call, Ledger, Spent
from agent.ledger.holds import Hold, Holds


class CapError(AgentctlError):
    """One more call could pass a cap. `until` is when it may go on by itself (UTC), None where only a person can raise the cap."""

    def __init__(self, message: str, hint: str, until: datetime | None) -> None:
        super().__init__(message, hint, Exit.LIMIT)
        self.until = until


class Meter(Struct):
    """What one run may cost, and what it has used of it, in USD. A call of which nobody knows what it cost counts with its most."""

    most: float = math.inf
    used: float = 0.0

    @property
    def cap(self) -> Cap:
        return Cap("max_cost", self.most, round(self.used, 9))


def by_day(spent: Iterable[tuple[str, Amount]]) -> dict[str, Amount]:
    """The sums of amounts by their day (YYYY-MM-DD)."""
    sums: dict[str, Amount] = {}
    for day, amount in spent:
        sums[day] = sums.get(day, Amount()) + amount
    return sums


def spent_by_day(spent: Iterable[Spent]) -> dict[str, Amount]:
    """What was used on each day, an unknown price counted as nothing; in one pass, as there are thousands."""
    money: dict[str, float] = {}
    tokens: dict[str, int] = {}
    for one in spent:
        money[one.day] = money.get(one.day, 0.0) + (one.usd or 0.0)
        tokens[one.day] = tokens.get(one.day, 0) + one.input + one.output
    return {day: Amount(round(usd, 9), tokens[day]) for day, usd in money.items()}


class Purse:
    """Money of a repository, whose ledger and holds are in `folder`; `elsewhere` tells what other clones' steps spent, given all that this ledger holds.

    Looking, deciding and setting aside happen under one lock, so that the caps hold with any number of processes at work. A call counts
    on the day, in UTC, on which it was sent.
    """

    def __init__(
        self,
        folder: Path,
        limits: Limits,
        elsewhere: Callable[[Sequence[Spent]], Iterable[Spent]] = lambda _: (),
        meter: Meter | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._lock = folder / "ledger.lock"
        self._told = folder / "alerts.json"
        self._ledger = Ledger(folder)
        self._holds = Holds(folder)
        self._limits = limits
        self._elsewhere = elsewhere
        self._meter = meter or Meter()
        self._now = now
        self._spent: dict[str, Amount] = {}
        self._end = -1

    @property
    def counts_money(self) -> bool:
        """Whether there is a cap in USD, which can't be kept with a model of unknown price."""
        return not all(math.isinf(most) for most in (self._limits.day_usd, self._limits.total_usd, self._meter.most))

    def refuse_empty(self) -> None:
        """Raise CapError where nothing is left of a cap."""
        with alone(self._lock):
            for cap in self._caps():
                if cap.left <= 0:
                    raise self._reached(cap, "nothing is left for another call", cap.most)

    def place(self, step: str, item: str, model: str, most: Amount) -> Hold:
        """Set `most` aside for a call that is about to be sent. Raises CapError where that could pass a cap."""
        with alone(self._lock):
            for cap in self._caps():
                need = cap.of(most)
                if need > cap.left:
                    raise self._reached(cap, f"one more call could take {cap.text(need)}", need)
            return self._holds.place(f"{self._now():%Y-%m-%dT%H:%M:%SZ}", step, item, model, most, self._ledger.size())

    def settle(self, hold: Hold, usage: Usage) -> None:
        """The call cost `usage`: in the ledger, on disk, when this returns."""
        with alone(self._lock):
            self._ledger.add(Call(hold.at, hold.step, hold.item, hold.model, usage, hold.name))
            self._holds.drop(hold)
        self._meter.used += usage.usd or 0.0

    def release(self, hold: Hold) -> None:
        """The call cost nothing."""
        with alone(self._lock):
            self._holds.drop(hold)

    def lose(self, hold: Hold) -> None:
        """Nobody knows what the call cost: the hold stays, and counts."""
        self._meter.used += hold.usd

    def passed(self, thresholds: Iterable[float]) -> list[tuple[float, float]]:
        """Those of `thresholds` (USD in all) that are passed and were not told before, each with what is spent. They count as told from now on."""
        if not thresholds:
            return []
        with alone(self._lock):
            self._read()
            spent = sum(self._spent.values(), Amount()).usd
            told = self._told_before()
            fresh = [one for one in sorted(set(thresholds)) if one <= spent and one not in told]
            if fresh:
                write_whole(self._told, json.dumps(sorted({*told, *fresh})).encode())
        return [(one, spent) for one in fresh]

    def _told_before(self) -> set[float]:
        try:
            return set(convert(parsed(read_own(self._told)), tuple[Quantity, ...]))
        except (OSError, ValueError):
            return set()

    def _caps(self) -> tuple[Cap, ...]:
        """The caps as they stand at this moment. Only under the lock."""
        self._read()
        held = by_day((hold.at[:10], hold.amount) for hold in self._holds.open(self._ledger))
        own = () if math.isinf(self._meter.most) else (self._meter.cap,)
        return (*own, *caps_of(self._limits, f"{self._now():%Y-%m-%d}", self._spent, held))

    def _read(self) -> None:
        """Take in what the ledger has got since it was last looked at."""
        if self._end < 0 or self._ledger.size() < self._end:
            sums = self._ledger.sums()
            self._spent, self._end = spent_by_day([*sums.spent, *self._elsewhere(sums.spent)]), sums.end
        calls, self._end = self._ledger.since(self._end)
        self._count((call.at[:10], call.usage) for call in calls)

    def _count(self, used: Iterable[tuple[str, Usage]]) -> None:
        for day, usage in used:
            self._spent[day] = self._spent.get(day, Amount()) + Amount.of(usage)

    def _reached(self, cap: Cap, why: str, need: float) -> CapError:
        held = f", calls under way or broken off may take {cap.text(cap.held)}" if cap.held else ""
        if cap.key == "max_cost":
            return CapError(
                f"this run may cost {cap.most:g} USD (--max-cost): {cap.text(cap.spent)} are spent, and {why}", "agentctl run, with more", None
            )
        what = f"{cap.most:,.0f} tokens" if cap.in_tokens else f"{cap.most:g} USD"
        span = "a day (UTC)" if cap.daily else "all of it"
        message = f"{span} may take {what} (limits.{cap.key}): {cap.text(cap.spent)} are spent{held}, and {why}"
        flag = f"--{cap.key.replace('_', '-')}"
        if not cap.daily or need > cap.most:
            return CapError(message, f"raise limits.{cap.key} in .agent/config.yaml and commit, or {flag} for once", None)
        midnight = (self._now() + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
        return CapError(message, f"goes on after {midnight:%Y-%m-%d %H:%M} UTC; for more now: {flag}", midnight)
