"""How many examples a fuzz runs, and what all of them ask of whatever reads them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import yaml
from hypothesis import HealthCheck, Phase, settings

from agent.errors import AgentctlError

MANY = int(os.environ.get("FUZZ", "0"))
"""Examples of each test, new ones each time; 0: the few that a suite has time for, always the same."""

SHRINK = bool(os.environ.get("SHRINK"))
"""Whether what failed is made smaller: it takes minutes where inputs are large."""

_SLOWEST = 5.0  # seconds of CPU; the slowest parser of all takes tenths of one


def examples(few: int, share: float = 1.0) -> settings:
    """Settings for a test that runs `few` examples in the suite, and its `share` of `MANY` where those are asked for."""
    return settings(
        max_examples=max(1, int(MANY * share)) if MANY else few,
        derandomize=not MANY,
        deadline=None,
        phases=[Phase.explicit, Phase.reuse, Phase.generate, *([Phase.shrink] if SHRINK else [])],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example, HealthCheck.function_scoped_fixture],
    )


@contextmanager
def in_time(seconds: float = _SLOWEST) -> Iterator[None]:
    """Whatever is done in here takes at most so much CPU of this process; a loop without end is ended, and its place told."""

    def late(_number: int, frame: FrameType | None) -> NoReturn:
        where = f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else ""
        raise TooLong(f"more than {seconds} s, at {where}")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class TooLong(BaseException):
    """It took too long. No handler of the code under test takes it for something else."""


def assert_told(error: AgentctlError) -> None:
    """An error says in one line what is wrong, and what to do."""
    assert error.message.strip(), repr(error)
    assert error.hint.strip(), repr(error)
    assert "\n" not in error.message, error.message
    assert len(error.message) < 2_000, error.message
    assert not isinstance(error, yaml.YAMLError)
