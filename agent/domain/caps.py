"""How much may be spent in a day and in all, and how much of it is."""

from __future__ import annotations

import math
from collections.abc import Mapping

from msgspec import Struct

from agent.domain.config import Limits
from agent.domain.usage import Usage


class Amount(Struct, frozen=True):
    """Money in USD, and tokens in and out."""

    usd: float = 0.0
    tokens: int = 0

    @classmethod
    def of(cls, usage: Usage) -> Amount:
        """All of `usage`, where an unknown price counts as nothing."""
        return cls(usage.usd or 0.0, usage.input + usage.output)

    def __add__(self, other: Amount) -> Amount:
        return Amount(round(self.usd + other.usd, 9), self.tokens + other.tokens)


class Cap(Struct, frozen=True):
    """At most `most`, in USD or tokens: `spent` is gone, and calls whose cost nobody knows yet may take `held` more.

    `key` is the setting's name: "day_usd", "total_tokens", …; "max_cost" is a run's own.
    """

    key: str
    most: float
    spent: float
    held: float = 0.0

    @property
    def in_tokens(self) -> bool:
        return self.key.endswith("_tokens")

    @property
    def daily(self) -> bool:
        return self.key.startswith("day_")

    @property
    def left(self) -> float:
        """What a further call may cost; never below nothing."""
        return max(0.0, self.most - self.spent - self.held)

    def of(self, amount: Amount) -> float:
        """The part of `amount` that this cap counts."""
        return amount.tokens if self.in_tokens else amount.usd

    def text(self, number: float) -> str:
        """A number of this cap with its unit."""
        return f"{number:,.0f} tokens" if self.in_tokens else f"{number:.4f} USD"


def caps_of(limits: Limits, day: str, spent: Mapping[str, Amount], held: Mapping[str, Amount]) -> tuple[Cap, ...]:
    """The caps that `limits` sets, with what `spent` and `held` say by day (YYYY-MM-DD, UTC); those in all first, since no night lifts them."""
    none = Amount()
    whole, whole_held = sum(spent.values(), none), sum(held.values(), none)
    today, today_held = spent.get(day, none), held.get(day, none)
    caps = (
        Cap("total_usd", limits.total_usd, whole.usd, whole_held.usd),
        Cap("total_tokens", limits.total_tokens, whole.tokens, whole_held.tokens),
        Cap("day_usd", limits.day_usd, today.usd, today_held.usd),
        Cap("day_tokens", limits.day_tokens, today.tokens, today_held.tokens),
    )
    return tuple(cap for cap in caps if not math.isinf(cap.most))
