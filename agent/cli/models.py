"""What the commands that ask a model share: which one, and where it is reached."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import click

from agent.cli.span import Span
from agent.domain.keys import KEY_ENV
from agent.errors import AgentctlError
from agent.model.opening import open_model
from agent.model.patient import FIRST, Patience
from agent.model.protocol import Endpoint, Model, OpenModel, Task
from agent.personal import Personal, personal
from agent.repository.repo import Repo

_F = TypeVar("_F", bound=Callable[..., Any])


def with_model(command: _F) -> _F:
    """The options that say which model, and where it is reached."""
    command = click.option("--model", metavar="NAME", help="The model, by its litellm name; wins over AGENTCTL_MODEL and the config.")(command)
    command = click.option("--api-base", metavar="URL", help="Where the model is reached, for a local or other endpoint.")(command)
    return click.option("--key-env", metavar="VARIABLE", help="The environment variable that holds the key.")(command)


def with_patience(default: str) -> Callable[[_F], _F]:
    """The option that says how long an outage is waited out."""
    return click.option(
        "--patience", type=Span(), default=default, show_default=True, help="How long a provider that can't answer now is waited for, each time."
    )


def patience_for(span: timedelta) -> Patience:
    """Patience of `span`; AGENTCTL_BACKOFF says how long its first wait is, in seconds. Raises AgentctlError where that is no number above 0."""
    told = os.environ.get("AGENTCTL_BACKOFF", "")
    try:
        first = float(told) if told else FIRST
    except ValueError:
        first = 0.0
    if not 0 < first < math.inf:
        raise AgentctlError(
            f"AGENTCTL_BACKOFF is {told!r}, which is no number of seconds above 0", f"unset it, or: export AGENTCTL_BACKOFF={FIRST:g}"
        )
    return Patience(span.total_seconds(), first=first)


def model_chooser(flag: str | None) -> Callable[[str], str]:
    """Which model to use, given what the repository's config names. Raises AgentctlError where nothing names one."""

    def choose(configured: str) -> str:
        name = flag or os.environ.get("AGENTCTL_MODEL", "") or configured or personal(os.environ).model
        if not name:
            raise AgentctlError("no model is named", "agentctl step --model NAME, or set AGENTCTL_MODEL, or `model:` in .agent/config.yaml")
        return name

    return choose


def endpoint_for(api_base: str | None, key_env: str | None) -> Endpoint:
    """Where models are reached: from the flags, the environment or the person's own config, never from the repository's."""
    own: Personal = personal(os.environ)
    variable = key_env or own.key_env
    if variable:
        os.environ[KEY_ENV] = variable  # whoever redacts must know that it holds a key, whatever it is called
    return Endpoint(api_base or own.api_base or None, variable or None)


def model_opener(repo: Repo, api_base: str | None, key_env: str | None) -> OpenModel:
    """How to open a model for one step, at `endpoint_for` these flags."""
    endpoint = endpoint_for(api_base, key_env)

    def opened(name: str, task: Task) -> Model:
        return open_model(name, endpoint=endpoint, task=task, root=repo.root)

    return opened
