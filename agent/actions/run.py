"""Step after step until the list is done, a bound is reached, or only a person can go on."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from datetime import datetime

from msgspec import Struct

from agent.actions.bounds import Bounds
from agent.actions.scene import open_scene
from agent.actions.step import StepResult, take_step
from agent.actions.waiting import Waiter
from agent.domain.config import Limits
from agent.domain.events import Called, Event, Listener
from agent.domain.usage import NOTHING, Usage
from agent.errors import AgentctlError, Exit
from agent.ledger import CapError, Meter
from agent.model.patient import Patience, patient
from agent.model.protocol import OpenModel
from agent.repository.programs import Untrusted
from agent.repository.repo import Repo


class RunBounds(Struct, frozen=True):
    """What a run may use: steps, USD, and until when; and what its steps' limits are, given the config's."""

    steps: float = math.inf
    usd: float = math.inf
    until: datetime | None = None
    limits: Callable[[Limits], Limits] = lambda configured: configured


class RunResult(Struct, frozen=True):
    """The steps of a run, why it ended, and what it spent, a step that was broken off included; `hint` says what to type next.

    `until` is when it could go on by itself (UTC): a day's cap was met.
    """

    steps: tuple[StepResult, ...]
    spent: Usage
    why: str
    exit: Exit
    hint: str = ""
    until: datetime | None = None


class _Sum:
    """Adds up what the calls of a run used, of which the price is known."""

    def __init__(self, listen: Listener) -> None:
        self._listen = listen
        self.spent = NOTHING

    def hear(self, event: Event) -> None:
        if isinstance(event, Called):
            self.spent = self.spent + event.usage.priced
        self._listen(event)


_LAST_WORDS = (Exit.NOTHING_LEFT, Exit.PERSON_NEEDED, Exit.UNAVAILABLE, Exit.LIMIT)


def run(
    repo: Repo,
    bounds: RunBounds,
    *,
    model_name: Callable[[str], str],
    open_model: OpenModel,
    patience: Patience,
    listen: Listener,
    now: Callable[[], datetime],
    ended: Callable[[StepResult], None],
    waiter: Waiter | None = None,
) -> RunResult:
    """Take steps, each a fresh session, and tell `ended` of each. A failed attempt or a blocked item doesn't end a run.

    Waits for a provider that can't be reached as long as `patience` lasts, and by `waiter`, if there is one, for whoever can change what keeps
    the next step from being taken. Raises AgentctlError where the first step can't be taken for a reason that a person must mend.
    """
    steps: list[StepResult] = []
    deadline = time.monotonic() + (bounds.until - now()).total_seconds() if bounds.until else math.inf
    patience.shorten(deadline)
    heard = _Sum(listen)
    meter = Meter(bounds.usd)
    step_bounds = Bounds(bounds.limits, meter, deadline, patience.now, patient(patience, listen))
    while True:
        over = _over(bounds, len(steps), now(), meter.most - meter.used)
        if over is not None:
            return RunResult(tuple(steps), heard.spent, *over)
        if waiter is not None:
            waiter.begin()
        try:
            result = take_step(repo, None, model_name=model_name, open_model=open_model, listen=heard.hear, now=now(), bounds=step_bounds)
        except AgentctlError as stop:
            if isinstance(stop, Untrusted) and not steps:
                raise
            if waiter is not None and waiter.wait(stop):
                continue
            if stop.code not in _LAST_WORDS and not steps:
                raise
            return _stopped(repo, tuple(steps), heard.spent, stop)
        steps.append(result)
        ended(result)


def _over(bounds: RunBounds, taken: int, now: datetime, left: float) -> tuple[str, Exit] | None:
    if taken >= bounds.steps:
        return f"{taken} steps were asked for, and taken", Exit.OK
    if bounds.until is not None and now >= bounds.until:
        return "its time is over", Exit.LIMIT
    if left <= 0:
        return f"the {bounds.usd:g} USD that it may cost are spent", Exit.LIMIT
    return None


def _stopped(repo: Repo, steps: tuple[StepResult, ...], spent: Usage, stop: AgentctlError) -> RunResult:
    """The end by a step that couldn't be taken. A list that was worked off is success."""
    done = stop.code is Exit.NOTHING_LEFT and bool(steps) and bool(open_scene(repo).memory.items)
    until = stop.until if isinstance(stop, CapError) else None
    return RunResult(steps, spent, stop.message, Exit.OK if done else stop.code, "" if done else stop.hint, until)
