"""`agentctl plan`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import click

from agent.actions.bounds import Bounds
from agent.actions.people import add_items
from agent.actions.plan import plan_each, plan_from_file, plan_with_model
from agent.actions.scene import open_scene
from agent.cli.common import collect_garbage, here, now, repository, with_allow, with_no_commit
from agent.cli.limits import limits_from, with_session_limits
from agent.cli.models import model_chooser, model_opener, patience_for, with_model, with_patience
from agent.cli.telling import telling, with_logs
from agent.domain.allow import of_title
from agent.domain.config import Limits
from agent.domain.todo import Item
from agent.errors import AgentctlError
from agent.hidden import hide_own_memory
from agent.model.patient import Patience, patient
from agent.model.protocol import OpenModel
from agent.repository.repo import Repo
from agent.worker.protocol import Ending


@click.command()
@click.option("--goal", metavar="TEXT", help="Plan for this, in place of .agent/goal.md.")
@click.option("--from", "source", metavar="FILE", help="Take the items from a Markdown checklist or a YAML list; no model is called.")
@click.option("--each", "pattern", metavar="GLOB", help="One item for each tracked file that matches; no model is called.")
@click.option("--title", metavar="TEXT", help="With --each: the title, with {path}, {name} or {stem} in it.")
@click.option("--text", "body", metavar="TEXT", help="With --each: what done means, with the same words in braces.")
@click.option("--check", "checks", metavar="CMD", multiple=True, help="With --each: a check of each item.")
@with_allow("With --each: what the items' steps may do that the gate refuses otherwise")
@with_patience("10m")
@with_session_limits
@with_model
@with_logs
@with_no_commit
def plan(
    goal: str | None,
    source: str | None,
    pattern: str | None,
    title: str | None,
    body: str | None,
    checks: tuple[str, ...],
    allow: tuple[str, ...],
    patience: timedelta,
    model: str | None,
    api_base: str | None,
    key_env: str | None,
    no_commit: bool,
    **given: float | None,
) -> None:
    """Write items into the list, as one commit.

    Without --from or --each the model looks around (it can only read) and cuts the goal into small items in order. A plan
    can be extended at any time: an item whose title the list has already is not added twice.
    """
    if source and pattern:
        raise click.UsageError("--from and --each can't go together.")
    if goal and (source or pattern):
        raise click.UsageError("--goal is for a plan by the model.")
    if pattern and not title:
        raise click.UsageError("--each wants a --title, such as --title 'Review {path}'.")
    repo = repository()
    if source:
        _added(repo, source, no_commit=no_commit)
    elif pattern:
        _each(repo, pattern, title or "", body or "", checks, allow, no_commit=no_commit)
    else:
        waiting = patience_for(patience)
        _by_model(repo, model_chooser(model), model_opener(repo, api_base, key_env), waiting, limits_from(given), goal, commit=not no_commit)


def _by_model(
    repo: Repo,
    choose: Callable[[str], str],
    open_model: OpenModel,
    waiting: Patience,
    limits: Callable[[Limits], Limits],
    goal: str | None,
    *,
    commit: bool,
) -> None:
    collect_garbage()
    hide_own_memory()
    with telling(repo) as listen:
        bounds = Bounds(limits, clock=waiting.now, around=patient(waiting, listen))
        result = plan_with_model(repo, model_name=choose, open_model=open_model, listen=listen, now=now(), goal=goal, commit=commit, bounds=bounds)
    if result.ending is not Ending.FINISHED:
        click.echo(f"the planner stopped before it said it was finished ({result.ending}): look the list over", err=True)
    _tell(list(result.items), list(result.known), result.commit)


def _added(repo: Repo, source: str, *, no_commit: bool) -> None:
    path = here() / source
    try:
        text = sys.stdin.read() if source == "-" else path.read_text("utf-8")
    except UnicodeDecodeError:
        raise AgentctlError(f"{source} isn't UTF-8 text", "save it as UTF-8") from None
    except OSError as error:
        raise AgentctlError(f"{source} can't be read: {error.strerror}", "name a Markdown checklist or a YAML list") from None
    items, known, landed = add_items(open_scene(repo), plan_from_file(text, source), f"Plan from {Path(source).name}\n", commit=not no_commit)
    _tell(items, known, landed.commit if landed else None)


def _each(repo: Repo, pattern: str, title: str, body: str, checks: tuple[str, ...], allow: tuple[str, ...], *, no_commit: bool) -> None:
    wanted = plan_each(repo, pattern, title=title, text=body, checks=checks, allow=allow or of_title(title))
    items, known, landed = add_items(open_scene(repo), wanted, f"Plan an item for each of {pattern}\n", commit=not no_commit)
    _tell(items, known, landed.commit if landed else None)


_SHOWN = 20


def _tell(items: list[Item], known: list[str], commit: str | None) -> None:
    for item in items[:_SHOWN]:
        click.echo(f"added {item.id}: {item.title}{''.join(f' [check: {check}]' for check in item.checks)}")
    if len(items) > _SHOWN:
        click.echo(f"and {len(items) - _SHOWN} more")
    if known:
        click.echo(f"the list had {len(known)} of them already")
    click.echo(f"{len(items)} items added" + (f" as {commit[:10]}" if commit else " (not committed)" if items else ""))
