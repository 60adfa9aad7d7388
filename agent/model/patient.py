"""A model that waits out what passes by itself: rate limits, overload, a network that is gone."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable

from agent.domain.chat import Reply, Request
from agent.domain.events import Listener, Waiting
from agent.domain.usage import NOTHING
from agent.model.errors import Kind, ModelError, Reason
from agent.model.protocol import Closing, Limits, Model, Price

_FIRST, _LONGEST = 2.0, 300.0  # seconds; each wait is twice the one before, up to the longest


class Patience:
    """How long waits may take in all, in seconds, and how long they have taken: shared by all calls of a run.

    `now` is a clock that stands still while somebody waits, so that waiting doesn't count as working.
    """

    def __init__(self, seconds: float, sleep: Callable[[float], None] = time.sleep) -> None:
        self._left = seconds
        self._deadline = math.inf
        self._sleep = sleep
        self.waited = 0.0

    def now(self) -> float:
        """Seconds of a clock that ran only while nobody waited."""
        return time.monotonic() - self.waited

    def shorten(self, deadline: float) -> None:
        """Wait no longer than until `deadline`, a moment of `time.monotonic`."""
        self._deadline = deadline

    def wait(self, seconds: float) -> bool:
        """Wait; False, at once, where that would be longer than what is left."""
        if seconds > self._left or time.monotonic() + seconds > self._deadline:
            return False
        began = time.monotonic()
        self._sleep(seconds)
        slept = time.monotonic() - began
        self.waited += slept
        self._left -= max(slept, seconds)
        return True


class PatientModel(Closing):
    """`model`, asked again after a wait when a call failed for a reason that passes. A wait is neither an attempt nor an answer."""

    def __init__(self, model: Model, patience: Patience, listen: Listener) -> None:
        self._model = model
        self._patience = patience
        self._listen = listen

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def limits(self) -> Limits:
        return self._model.limits

    @property
    def price(self) -> Price | None:
        return self._model.price

    def check(self) -> None:
        self._model.check()

    def complete(self, request: Request) -> Reply:
        tries = 0
        while True:
            try:
                return self._model.complete(request)
            except ModelError as error:
                if error.kind is not Kind.WAIT or error.reason is Reason.QUOTA or error.spent != NOTHING:
                    raise
                seconds = _seconds(tries, error.retry_after)
                self._listen(Waiting(seconds, error.message))
                if not self._patience.wait(seconds):
                    raise
                tries += 1

    def close(self) -> None:
        self._model.close()


def _seconds(tries: int, wanted: float | None) -> float:
    """Exponential back-off with full jitter in its upper half; never less than what the provider asked for, if it did."""
    backoff: float = min(_LONGEST, _FIRST * 2**tries) * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards nothing
    return max(backoff, wanted or 0.0)
