"""Who is told of what happens during a step: the person at the terminal or a log collector, whoever asks for the status, a service manager."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import click

from agent.domain.events import Listener, all_of
from agent.errors import AgentctlError, Exit
from agent.heartbeat import beating
from agent.render.logs import Lines, write_line
from agent.render.progress import watching
from agent.repository.changes import patch_of
from agent.repository.repo import Repo

_F = TypeVar("_F", bound=Callable[..., Any])
_Told = contextlib.AbstractContextManager[Listener]


def _keep(ctx: click.Context, param: click.Parameter, value: object) -> None:
    ctx.meta[f"{__name__}.{param.name}"] = value


def _kept(name: str) -> object:
    return click.get_current_context().meta.get(f"{__name__}.{name}")


def with_logs(command: _F) -> _F:
    """The options that say how it is told what happens; `telling` looks them up."""
    command = click.option(
        "--otel",
        is_flag=True,
        expose_value=False,
        callback=_keep,
        help="Send traces and logs by OpenTelemetry (docs/logs.md), to where OTEL_EXPORTER_OTLP_ENDPOINT says.",
    )(command)
    return click.option(
        "--log-format",
        type=click.Choice(("text", "json")),
        default="text",
        expose_value=False,
        callback=_keep,
        help="What stderr tells: text, or one JSON object a line (docs/logs.md).",
    )(command)


@contextlib.contextmanager
def telling(repo: Repo) -> Iterator[Listener]:
    """A listener for all that happens in `repo` while the block lasts, told as `with_logs` says."""
    memory = partial(patch_of, repo)
    shown: _Told = _json_lines(memory) if _kept("log_format") == "json" else watching(sys.stderr)
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(beating(repo.private, os.environ)), stack.enter_context(shown)]
        if _kept("otel"):
            from agent.render.otel import exported

            listeners.append(stack.enter_context(exported(memory, listeners[-1])))
        yield all_of(*listeners)


@contextlib.contextmanager
def _json_lines(memory: Callable[[str], str]) -> Iterator[Listener]:
    """Lines on stderr. An error is one of them, and no words stand beside it."""
    lines = Lines(memory)
    try:
        yield lambda event: write_line(sys.stderr, lines.line(event))
    except AgentctlError as error:
        write_line(sys.stderr, lines.error(error))
        raise click.exceptions.Exit(error.code) from None
    except KeyboardInterrupt:
        write_line(sys.stderr, lines.error(AgentctlError("interrupted", "agentctl status", Exit.INTERRUPTED)))
        raise click.exceptions.Exit(Exit.INTERRUPTED) from None
