"""`agentctl step`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import click

from agent.actions.bounds import Bounds
from agent.actions.resume import newest_takeup, to_begin_anew, to_go_on_from, told_of
from agent.actions.scene import brief_for, choose, open_scene, under
from agent.actions.setup import setup_due
from agent.actions.step import take_step
from agent.cli.common import collect_garbage, now, print_json, repository, with_json
from agent.cli.limits import limits_from, with_limits
from agent.cli.models import model_chooser, model_opener, patience_for, with_model, with_patience
from agent.cli.telling import telling, with_logs
from agent.domain.config import Limits
from agent.domain.text import one_line
from agent.errors import Exit
from agent.hidden import hide_own_memory
from agent.model.patient import patient
from agent.render import data, text
from agent.repository.repo import Repo


@click.command()
@click.argument("item", required=False)
@click.option("--dry-run", is_flag=True, help="Print the brief, and on stderr what a step would cost at most; no model is called.")
@click.option("--restart", is_flag=True, help="Begin anew: the work of a session that was broken off is kept in refs/agentctl/attempts/.")
@with_patience("10m")
@with_limits
@with_model
@with_logs
@with_json
def step(
    item: str | None,
    dry_run: bool,
    restart: bool,
    patience: timedelta,
    model: str | None,
    api_base: str | None,
    key_env: str | None,
    as_json: bool,
    **given: float | None,
) -> int:
    """Take one step at ITEM, or at the next item of the list.

    A fresh session works at the item with its tools. When it says it is finished, agentctl runs the checks of the commit
    that the step began from, and commits code, note, follow-up items and lessons as one commit only if they pass. If not,
    the worker is told, within the limits of the step; at the end of those the tree is put back and a note says why.

    Where an earlier session at the item was broken off (a crash, Ctrl-C, a provider that was out), this one goes on from its work.

    Exit status: 0 landed, 3 nothing left to do, 4 the gate refused, 5 a limit was reached, 6 a person is needed,
    75 the model can't be reached, 1 another error.
    """
    repo = repository()
    if dry_run:
        return _show(repo, item, model, limits_from(given))
    collect_garbage()
    hide_own_memory()
    waiting = patience_for(patience)
    with telling(repo) as listen:
        result = take_step(
            repo,
            item,
            model_name=model_chooser(model),
            open_model=model_opener(repo, api_base, key_env),
            listen=listen,
            now=now(),
            bounds=Bounds(limits_from(given), clock=waiting.now, around=patient(waiting, listen)),
            find_work=to_begin_anew if restart else to_go_on_from,
        )
    if as_json:
        print_json(data.step_data(result))
    else:
        click.echo(text.step_text(result))
    return result.exit


def _show(repo: Repo, identity: str | None, flag: str | None, wanted: Callable[[Limits], Limits]) -> int:
    from agent.model.price import price_of
    from agent.model.tokens import count

    scene = under(wanted, open_scene(repo))
    item = choose(scene, identity)
    brief = brief_for(scene, item, count, resumed=told_of(newest_takeup(repo, item.id)))
    click.echo(brief.text, nl=False)
    name = model_chooser(flag)(scene.memory.config.model)
    price = scene.memory.config.prices.get(name) or price_of(name)
    limits = scene.memory.config.limits
    first = f", {brief.tokens * price.input / 1_000_000:.4f} USD for the first call's brief" if price else ", price unknown"
    told = f"{item.id} with {name}: {brief.tokens:,} tokens of brief{first}; at most {limits.usd:g} USD, {limits.calls} calls, {limits.minutes:g} minutes"
    click.echo(told, err=True)
    setup = scene.memory.config.setup
    if setup_due(repo, setup, scene.memory.commit):
        click.echo(f"setup runs first, with the network: {'; '.join(one_line(command) for command in setup)}", err=True)
    return Exit.OK
