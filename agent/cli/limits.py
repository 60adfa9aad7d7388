"""The options that stand in for the config's limits, for one command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click
from msgspec.structs import replace

from agent.domain.config import Limits

_F = TypeVar("_F", bound=Callable[..., Any])
_Option = tuple[str, click.ParamType[Any], str, str]
_COUNT, _AMOUNT = click.IntRange(min=1), click.FloatRange(min=0, min_open=True)

_SESSION = (
    ("calls", _COUNT, "N", "Model calls in one session, in place of limits.calls."),
    ("usd", _AMOUNT, "USD", "Money for one session, in place of limits.usd."),
    ("minutes", _AMOUNT, "MIN", "Time for one session, in place of limits.minutes."),
)
_STEP = (
    ("lines", _COUNT, "N", "Changed lines in one step, in place of limits.lines."),
    ("attempts", _COUNT, "N", "Failed attempts before an item is blocked, in place of limits.attempts."),
)
_CAPS = (
    ("day_usd", _AMOUNT, "USD", "Money for a day (UTC), in place of limits.day_usd."),
    ("day_tokens", _COUNT, "N", "Tokens for a day (UTC), in place of limits.day_tokens."),
    ("total_usd", _AMOUNT, "USD", "Money in all, in place of limits.total_usd."),
    ("total_tokens", _COUNT, "N", "Tokens in all, in place of limits.total_tokens."),
)


def with_limits(command: _F) -> _F:
    """The options for every limit of a step that a person may want to change for once; they come by their names in the config, None where not given."""
    return _with((*_SESSION, *_STEP, *_CAPS), command)


def with_session_limits(command: _F) -> _F:
    """As `with_limits`, for a session that changes no code."""
    return _with((*_SESSION, *_CAPS), command)


def _with(options: Sequence[_Option], command: _F) -> _F:
    for name, kind, metavar, told in reversed(options):
        command = click.option(f"--{name.replace('_', '-')}", name, type=kind, metavar=metavar, help=told)(command)
    return command


def limits_from(given: dict[str, float | None]) -> Callable[[Limits], Limits]:
    """The config's limits with what was `given` in their place: who types it may go above the config as well as below."""
    wanted: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return lambda configured: replace(configured, **wanted)
