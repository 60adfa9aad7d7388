"""A model that waits out what passes by itself: rate limits, overload, a network that is gone."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable

from agent.domain.chat import Reply, Request
from agent.domain.events import Listener, Waiting
from agent.model.errors import Kind, ModelError
from agent.model.protocol import Around, Model

FIRST = 2.0
"""Seconds of the first wait; each further one in a row is twice as long, up to five minutes or what the provider says."""

_LONGEST = 300.0


class Patience:
    """How long one outage may last, in seconds, from the first failed call to an answer: shared by all calls of a run.

    `now` is a clock that stands still from a failed call to the next one, so that an outage doesn't count as work.
    """

    def __init__(self, seconds: float, *, first: float = FIRST, sleep: Callable[[float], None] = time.sleep) -> None:
        self._seconds = seconds
        self._first = first
        self._sleep = sleep
        self._left = seconds
        self._tries = 0
        self._deadline = math.inf
        self.waited = 0.0

    def now(self) -> float:
        """Seconds of a clock that ran only while nobody waited."""
        return time.monotonic() - self.waited

    def shorten(self, deadline: float) -> None:
        """Wait no longer than until `deadline`, a moment of `time.monotonic`."""
        self._deadline = deadline

    def answered(self) -> None:
        """The outage, if there was one, is over."""
        self._left = self._seconds
        self._tries = 0

    def lost(self, seconds: float, error: ModelError) -> float | None:
        """How long to wait after a call that failed with `error` after `seconds`; None where waiting is over.

        Exponential back-off with jitter in its upper half; never less than what the provider asked for.
        """
        self.waited += seconds
        self._left -= seconds
        self._tries += 1
        backoff = min(_LONGEST, self._first * 2.0 ** min(self._tries - 1, 60)) * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards nothing
        wait = max(backoff, error.retry_after or 0.0)
        if self._tries > error.tries or wait > self._left or time.monotonic() + wait > self._deadline:
            return None
        return wait

    def wait(self, seconds: float) -> None:
        """Wait."""
        began = time.monotonic()
        self._sleep(seconds)
        slept = time.monotonic() - began
        self.waited += slept
        self._left -= max(slept, seconds)


class PatientModel(Around):
    """`model`, asked again after a wait when a call failed for a reason that passes. A wait is neither an attempt nor an answer."""

    def __init__(self, model: Model, patience: Patience, listen: Listener) -> None:
        super().__init__(model)
        self._patience = patience
        self._listen = listen

    def complete(self, request: Request) -> Reply:
        while True:
            began = time.monotonic()
            try:
                reply = self._model.complete(request)
                break
            except ModelError as error:
                if error.kind is not Kind.WAIT:
                    self._patience.answered()
                    raise
                wait = self._patience.lost(time.monotonic() - began, error)
                if wait is None:
                    raise
                self._listen(Waiting(wait, error.message))
            self._patience.wait(wait)
        self._patience.answered()
        return reply


def patient(patience: Patience, listen: Listener) -> Callable[[Model], Model]:
    """What makes a model wait out what passes, as long as `patience` lasts."""
    return lambda model: PatientModel(model, patience, listen)
