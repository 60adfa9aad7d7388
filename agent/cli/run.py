"""`agentctl run`."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import click

from agent.actions.overview import rows
from agent.actions.run import RunBounds, RunResult
from agent.actions.run import run as go_on
from agent.actions.scene import open_scene
from agent.actions.step import StepResult
from agent.actions.waiting import Waiter
from agent.cli.common import collect_garbage, now, print_json, repository, with_json
from agent.cli.limits import limits_from, with_limits
from agent.cli.models import endpoint_for, model_chooser, patience_for, with_model, with_patience
from agent.cli.span import Span
from agent.cli.telling import telling, with_logs
from agent.domain.events import RunEnded, all_of
from agent.hidden import hide_own_memory
from agent.model.kept import KeptModels
from agent.render import data, text
from agent.repository.repo import Repo


@click.command()
@click.option("--steps", type=click.IntRange(min=1), metavar="N", help="At most N steps.")
@click.option("--for", "span", type=Span(), help="For so long: 90m, 8h, 2d12h.")
@click.option("--until", type=click.DateTime(["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%H:%M"]), help="Until then, in local time.")
@click.option(
    "--max-cost",
    type=click.FloatRange(min=0, min_open=True),
    metavar="USD",
    help="At most so much for this run; checked before each call with the most it could cost.",
)
@click.option("--wait", is_flag=True, help="Don't end where nothing is left or a person is needed: wait for a commit that changes it.")
@with_patience("8h")
@with_limits
@with_model
@with_logs
@with_json
def run(
    steps: int | None,
    span: timedelta | None,
    until: datetime | None,
    max_cost: float | None,
    wait: bool,
    patience: timedelta,
    model: str | None,
    api_base: str | None,
    key_env: str | None,
    as_json: bool,
    **given: float | None,
) -> int:
    """Take steps until the list is done, a bound is reached, or only a person can go on.

    Each step is a fresh session, as with `agentctl step`. Failed attempts and blocked items are passed over. Rate limits
    and outages are waited out; such waits don't count against a step's minutes.

    With --wait it stays when the list is done or a person is needed, and goes on at the next commit that changes this: a
    new item, an answer, a revert, a pull; where a day's cap is met, on the next day (UTC). It holds no lock meanwhile.
    Ctrl-C or a bound ends it.

    Exit status: 0 the list is done or the steps were taken, 3 there was nothing to do, 5 a bound was reached, 6 a person is
    needed, 75 the model couldn't be reached for too long, 1 another error.
    """
    collect_garbage()
    hide_own_memory()
    repo = repository()
    bounds = RunBounds(steps or math.inf, max_cost or math.inf, _deadline(span, until), limits_from(given))
    with KeptModels(endpoint_for(api_base, key_env), repo.root) as models, telling(repo) as listen:
        waiter = Waiter(repo, listen, until=bounds.until, now=now) if wait else None
        result = go_on(
            repo,
            bounds,
            model_name=model_chooser(model),
            open_model=models.open,
            patience=patience_for(patience),
            listen=all_of(waiter.hear, listen) if waiter else listen,
            now=now,
            ended=_nothing if as_json else _show,
            waiter=waiter,
        )
        listen(RunEnded(result.why, result.hint, result.exit))
    _tell(repo, result, as_json=as_json)
    return result.exit


def _tell(repo: Repo, result: RunResult, *, as_json: bool) -> None:
    if as_json:
        print_json(data.run_data(result))
    else:
        click.echo(text.run_text(result, rows(open_scene(repo))))


def _show(result: StepResult) -> None:
    click.echo(text.step_text(result))


def _nothing(result: StepResult) -> None:
    """JSON is printed once, at the end."""


def _deadline(span: timedelta | None, until: datetime | None) -> datetime | None:
    """The earlier of both ends, in UTC; a time of day that is past means tomorrow's."""
    ends = [now() + span] if span is not None else []
    if until is not None:
        local = datetime.now().astimezone()
        when = until.replace(tzinfo=local.tzinfo)
        if until.year == 1900:  # noqa: PLR2004 - what strptime gives where only a time was named
            when = local.replace(hour=until.hour, minute=until.minute, second=0, microsecond=0)
            when += timedelta(days=1) if when <= local else timedelta()
        ends.append(when.astimezone(UTC))
    return min(ends, default=None)
