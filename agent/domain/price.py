"""What tokens cost."""

from __future__ import annotations

from msgspec import Struct


class Price(Struct, frozen=True):
    """USD for a million tokens. `written` is for input that goes into the provider's cache, None where that costs what other input does.

    `most_input` and `most_output` are rates that can apply instead, where they are dearer: of long prompts, of a priority tier, of reasoning.
    """

    input: float
    cached: float
    output: float
    written: float | None = None
    most_input: float = 0.0
    most_output: float = 0.0

    def usd(self, given: int, cached: int, written: int, output: int) -> float:
        """What a call costs at the plain rates. `given` includes `cached` and `written`, each of which is charged once."""
        fresh = max(0, given - cached - written)
        per_written = self.input if self.written is None else self.written
        return round((fresh * self.input + cached * self.cached + written * per_written + output * self.output) / 1_000_000, 9)

    def at_most(self, given: int, output: int) -> float:
        """The most that a call of so many tokens can cost, whatever of it is cached and whichever rate applies."""
        per_input = max(self.input, self.cached, self.written or 0.0, self.most_input)
        return (given * per_input + output * max(self.output, self.most_output)) / 1_000_000
