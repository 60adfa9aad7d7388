"""How many tokens a request is for the provider, learned from what it reported of the one before."""

from __future__ import annotations

from msgspec import Struct

_UNKNOWN = 1.3  # how much too low our own count may be while nothing was reported
_LOWEST, _HIGHEST = 0.5, 3.0  # a report beyond these is no count of what was sent


class Gauge(Struct, frozen=True):
    """`counted` is our count of the last request, `told` the provider's; 0 before the first report.

    Requests grow at their end, so only what was added since is estimated: the rest has been counted by who charges it.
    """

    counted: int = 0
    told: float = 0.0

    def learned(self, counted: int, told: int) -> Gauge:
        """The gauge after a request that we count as `counted` and the provider as `told` tokens; the same where either is nothing."""
        if counted <= 0 or told <= 0:
            return self
        return Gauge(counted, counted * min(_HIGHEST, max(_LOWEST, told / counted)))

    def tokens(self, counted: int) -> float:
        """The provider's count of a request that we count as `counted`."""
        if counted < self.counted:
            return counted * self._ratio
        return self.told + (counted - self.counted) * self._ratio

    def room(self, tokens: float) -> int:
        """Our count of the largest request that the provider counts as at most `tokens`."""
        if tokens < self.told:
            return int(tokens / self._ratio)
        return self.counted + int((tokens - self.told) / self._ratio)

    @property
    def _ratio(self) -> float:
        return self.told / self.counted if self.counted else _UNKNOWN
