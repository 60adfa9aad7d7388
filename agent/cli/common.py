"""What the commands share: the repository, JSON, the clock, the model to use."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from agent.errors import AgentctlError
from agent.model.protocol import Endpoint, Model, OpenModel, Task
from agent.personal import Personal, personal
from agent.repository.repo import Repo, discover

_F = TypeVar("_F", bound=Callable[..., Any])


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


def with_model(command: _F) -> _F:
    """The options that say which model, and where it is reached."""
    command = click.option("--model", metavar="NAME", help="The model, by its litellm name; wins over AGENTCTL_MODEL and the config.")(command)
    command = click.option("--api-base", metavar="URL", help="Where the model is reached, for a local or other endpoint.")(command)
    return click.option("--key-env", metavar="VARIABLE", help="The environment variable that holds the key.")(command)


def model_chooser(flag: str | None) -> Callable[[str], str]:
    """Which model to use, given what the repository's config names. Raises AgentctlError where nothing names one."""

    def choose(configured: str) -> str:
        name = flag or os.environ.get("AGENTCTL_MODEL", "") or configured or personal(os.environ).model
        if not name:
            raise AgentctlError("no model is named", "agentctl step --model NAME, or set AGENTCTL_MODEL, or `model:` in .agent/config.yaml")
        return name

    return choose


def model_opener(repo: Repo, api_base: str | None, key_env: str | None) -> OpenModel:
    """How to open a model: with the endpoint from the flags, the environment or the person's own config, never the repository's."""
    from agent.model import open_model

    own: Personal = personal(os.environ)
    endpoint = Endpoint(api_base or own.api_base or None, key_env or own.key_env or None)

    def opened(name: str, task: Task) -> Model:
        return open_model(name, endpoint=endpoint, task=task, root=repo.root)

    return opened


def print_json(data: object) -> None:
    """`data` as JSON on stdout."""
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))


def reason(because: str | None, question: str) -> str:
    """The reason that was given, or asked for on a terminal; empty where nobody can be asked."""
    if because is not None:
        return because
    if sys.stdin.isatty():
        return str(click.prompt(question, default="", show_default=False))
    return ""


def long_text(given: str | None) -> str:
    """A text argument; `-` reads stdin."""
    if given == "-":
        return sys.stdin.read()
    return given or ""
