"""What a model call, a step or a day has spent."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from agent.domain.shape import Count, Quantity, Stored


class Usage(Stored, frozen=True):
    """Tokens as the provider counts them: `input` includes `cached`; `usd` is None where the price is unknown."""

    usd: Quantity | None = 0.0
    input: Count = 0
    cached: Count = 0
    output: Count = 0
    seconds: Quantity = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            usd=_add_usd(self.usd, other.usd),
            input=self.input + other.input,
            cached=self.cached + other.cached,
            output=self.output + other.output,
            seconds=round(self.seconds + other.seconds, 3),
        )

    def without(self, part: Usage) -> Usage:
        """What is left of it beside `part`, never less than nothing; its money is unknown where that of either is."""
        usd = None if self.usd is None or part.usd is None else max(0.0, round(self.usd - part.usd, 9))
        tokens, cached, output = max(0, self.input - part.input), max(0, self.cached - part.cached), max(0, self.output - part.output)
        return Usage(usd, tokens, cached, output, max(0.0, round(self.seconds - part.seconds, 3)))

    @property
    def priced(self) -> Usage:
        """The same with an unknown price counted as nothing, for sums over many models."""
        return self if self.usd is not None else replace(self, usd=0.0)


def summed(usages: Iterable[Usage]) -> Usage:
    """The sum of many, in one pass."""
    usd: float | None = 0.0
    tokens, cached, output, seconds = 0, 0, 0, 0.0
    for one in usages:
        usd = None if usd is None or one.usd is None else usd + one.usd
        tokens, cached, output, seconds = tokens + one.input, cached + one.cached, output + one.output, seconds + one.seconds
    return Usage(None if usd is None else round(usd, 9), tokens, cached, output, round(seconds, 3))


def _add_usd(one: float | None, other: float | None) -> float | None:
    """A sum with an unknown part is unknown."""
    if one is None or other is None:
        return None
    return round(one + other, 9)


NOTHING = Usage()
