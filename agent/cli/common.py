"""What the commands share: the repository, JSON, the clock."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from agent.domain.allow import MEANINGS, NO_CHANGE, is_known, listed
from agent.domain.text import visible
from agent.errors import AgentctlError
from agent.repository.repo import Repo, discover

_F = TypeVar("_F", bound=Callable[..., Any])


def collect_garbage() -> None:
    """Search for garbage from now on, but not in what came while nobody searched: that stays to the end."""
    if not gc.isenabled():
        gc.freeze()
    gc.enable()


def here() -> Path:
    """The folder to work in: -C's, or the current one. Raises AgentctlError where it has vanished."""
    folder = click.get_current_context().find_root().obj
    try:
        cwd = Path.cwd()
    except FileNotFoundError:
        raise AgentctlError("the current directory no longer exists", "cd to it again") from None
    place = cwd / folder if folder else cwd
    if not place.is_dir():
        raise AgentctlError(f"{place} is no folder", "name one that is there")
    return place


def repository() -> Repo:
    """The repository around the folder to work in."""
    return discover(here())


def now() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


def with_json(command: _F) -> _F:
    """The option of commands that print data."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON (documented in docs/json.md).")(command)


def with_no_commit(command: _F) -> _F:
    """The option of commands that add to .agent/."""
    return click.option("--no-commit", is_flag=True, help="Write the files but leave committing to you (until then they are not remembered).")(
        command
    )


def with_allow(told: str) -> Callable[[_F], _F]:
    """The option of commands that make items: the words of `allow:`."""
    words = "; ".join(f"`{word}`: {meaning}" for word, meaning in MEANINGS.items())
    return click.option(
        "--allow",
        metavar="WORD",
        multiple=True,
        callback=_known_words,
        help=f"{told} (a title such as “Review …” allows `{NO_CHANGE}` by itself). {words}.",
    )


def _known_words(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    for word in given:
        if not is_known(word):
            raise click.BadParameter(f"{word!r} is nothing that can be allowed; what can be: {listed()}.", ctx, param)
    return given


def print_json(data: object) -> None:
    """`data` as JSON on stdout; characters that nobody sees are JSON's own escapes."""
    click.echo(visible(json.dumps(data, indent=2, ensure_ascii=False), lambda char: json.dumps(char)[1:-1]))


def reason(because: str | None, question: str) -> str:
    """The reason that was given, or asked for on a terminal. Raises UsageError where nobody can be asked."""
    if because is not None:
        return because
    if not sys.stdin.isatty():
        raise click.UsageError('--because "…" is wanted: sessions to come read the reason (--because "" says there is none).')
    return str(click.prompt(question, default="", show_default=False))


def long_text(given: str | None) -> str:
    """A text argument; `-` reads stdin."""
    if given == "-":
        return sys.stdin.read()
    return given or ""
