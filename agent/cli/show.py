"""`agentctl status`, `log`, `context`, `cost`: what there is, as text or JSON."""

from __future__ import annotations

import click

from agent.actions.overview import cost as cost_of
from agent.actions.overview import log_lines, where
from agent.actions.scene import Scene, choose, find_item, open_scene, sources_of
from agent.cli.common import now, print_json, repository, with_json
from agent.domain.brief import Brief, compose
from agent.domain.todo import Item
from agent.render import data, text

_LOG = 20


@click.command()
@with_json
def status(as_json: bool) -> None:
    """Where things stand: the list in numbers, what is next, the last letter, what was spent."""
    from agent.actions.findings.landed import mismatches

    scene = open_scene(repository())
    found = where(scene, now())
    if as_json:
        print_json(data.status_data(found))
        return
    click.echo(text.status_text(found, list(mismatches(scene))))


@click.command()
@click.option("--item", metavar="ITEM", help="Only the steps at this item.")
@click.option("--all", "everything", is_flag=True, help=f"All of them, not only the newest {_LOG}.")
@with_json
def log(item: str | None, everything: bool, as_json: bool) -> None:
    """The steps, newest first: when (UTC), outcome, commit, cost in USD, item, and by whom it was undone and why."""
    lines = log_lines(open_scene(repository()), item)
    if as_json:
        print_json(data.log_data(lines))
        return
    click.echo(text.log_text(lines, len(lines) if everything else _LOG))


@click.command()
@click.argument("item", required=False)
@click.option("--at", "revision", metavar="REV", default="HEAD", show_default=True, help="The commit to read at.")
@click.option("--item", "named", metavar="ITEM", help="The item; else the next one.")
@with_json
def context(item: str | None, revision: str, named: str | None, as_json: bool) -> None:
    """Print byte for byte what a fresh session would read at a commit, for an item. Nothing but the commit has a say in it."""
    scene = open_scene(repository(), revision)
    wanted = named or item
    brief = _brief(scene, find_item(scene, wanted) if wanted else choose(scene, None), counted=as_json)
    if as_json:
        print_json(data.context_data(brief))
        return
    click.echo(brief.text, nl=False)


def _brief(scene: Scene, item: Item, *, counted: bool) -> Brief:
    """The brief; its tokens are exact where they are to be shown (`counted`).

    No token is shorter than a byte: where nothing is cut even if each byte counts as one, the text is what it is by the exact count, which
    takes longer than all the rest of the command.
    """
    sources, budget = sources_of(scene, item), scene.memory.config.brief_tokens
    if not counted:
        at_most = compose(sources, budget, lambda text: len(text.encode("utf-8", "surrogatepass")))
        if not any(part.cut for part in at_most.parts):
            return at_most
    from agent.model.tokens import remembered

    with remembered(scene.repo.private / "cache" / "tokens-1.json") as count:
        return compose(sources, budget, count)


@click.command()
@with_json
def cost(as_json: bool) -> None:
    """What was spent, by day (UTC), item and model, and what is left of the caps; reverted, failed and interrupted steps included."""
    found = cost_of(open_scene(repository()), now())
    if as_json:
        print_json(data.cost_data(found))
        return
    click.echo(text.cost_text(found))
