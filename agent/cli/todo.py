"""`agentctl todo` and its subcommands."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from agent.actions.overview import Row, rows
from agent.actions.scene import Scene, find_item, open_scene
from agent.cli.common import long_text, now, print_json, reason, repository, with_allow, with_json, with_no_commit
from agent.domain.allow import of_title
from agent.domain.names import Outcome
from agent.domain.todo import NewItem, State, check_links
from agent.errors import AgentctlError
from agent.render import data, text
from agent.store import notes_of

if TYPE_CHECKING:
    from agent.domain.listing import BadLineError


@click.group(invoke_without_command=True)
@click.option("--all", "everything", is_flag=True, help="Done and dropped items too.")
@with_json
@click.pass_context
def todo(ctx: click.Context, everything: bool, as_json: bool) -> None:
    """The list: progress in numbers, what is next, what is blocked and why."""
    if ctx.invoked_subcommand is not None:
        return
    scene = open_scene(repository())
    check_links(scene.memory.items)
    listed = rows(scene)
    if as_json:
        print_json(data.todo_data(listed, scene.history.attempts))
        return
    click.echo(text.todo_text(listed, everything=everything))


@todo.command()
@click.argument("title")
@click.option("--text", "-m", "body", metavar="TEXT", help="What done means; - reads stdin.")
@click.option("--check", "checks", metavar="CMD", multiple=True, help="A command that must exit 0 before this item may land.")
@click.option("--after", metavar="ITEM", multiple=True, help="An item that must be done before.")
@click.option("--order", type=float, metavar="N", help="Its place: lowest first; else in order of arrival.")
@with_allow("What its steps may do that the gate refuses otherwise")
@with_no_commit
def add(
    title: str, body: str | None, checks: tuple[str, ...], after: tuple[str, ...], order: float | None, allow: tuple[str, ...], no_commit: bool
) -> None:
    """Add an item. One whose title the list has already is not added twice."""
    from agent.actions.people import add_items

    scene = open_scene(repository())
    known = tuple(find_item(scene, one).id for one in after)
    wanted = NewItem(title, long_text(body), checks, known, order, allow or of_title(title))
    items, there, landed = add_items(scene, [wanted], f"Add an item: {title}\n", commit=not no_commit)
    for item in items:
        click.echo(f"added {item.id}: {item.title}" + (f" ({landed.commit[:10]})" if landed and landed.commit else " (not committed)"))
    for one in there:
        click.echo(f"the list has it already: {one}")


def _spoken(identity: str, outcome: Outcome, because: str, *, commit: bool) -> None:
    from agent.actions.people import say

    scene = open_scene(repository())
    item = find_item(scene, identity)
    _refuse_same(scene, item.id, outcome)
    _, landed = say(scene, item, outcome, because, now(), commit=commit)
    click.echo(f"{item.id} is {_STATES[outcome]}" + (f" ({landed.commit[:10]})" if landed.commit else " (not committed)"))


_STATES = {Outcome.DONE: State.DONE, Outcome.REOPENED: State.OPEN, Outcome.DROPPED: State.DROPPED}


def _refuse_same(scene: Scene, identity: str, outcome: Outcome) -> None:
    standing = scene.standing(identity)
    if standing.state is _STATES[outcome] and not standing.failures:
        raise AgentctlError(f"{identity} is {standing.state} already", f"agentctl todo show {identity}")


_BECAUSE = click.option("--because", metavar="TEXT", help="The reason; sessions to come read it.")


@todo.command()
@click.argument("item")
@_BECAUSE
@with_no_commit
def done(item: str, because: str | None, no_commit: bool) -> None:
    """Say that ITEM is done, by hand."""
    _spoken(item, Outcome.DONE, reason(because, "Why is it done"), commit=not no_commit)


@todo.command()
@click.argument("item")
@_BECAUSE
@with_no_commit
def reopen(item: str, because: str | None, no_commit: bool) -> None:
    """Open ITEM again, with the reason.

    Of a blocked item the reason is the answer to its question; done and dropped ones can be opened again too.
    """
    _spoken(item, Outcome.REOPENED, reason(because, "Why (or the answer to its question)"), commit=not no_commit)


@todo.command()
@click.argument("item")
@_BECAUSE
@with_no_commit
def drop(item: str, because: str | None, no_commit: bool) -> None:
    """Drop ITEM: nobody will work at it.

    It stays in the history, and can be opened again.
    """
    _spoken(item, Outcome.DROPPED, reason(because, "Why"), commit=not no_commit)


@todo.command()
@click.argument("item")
@with_json
def show(item: str, as_json: bool) -> None:
    """One item, whole: text, checks, attempts."""
    scene = open_scene(repository())
    found = find_item(scene, item)
    row = next((row for row in rows(scene) if row.item.id == found.id), Row(found, scene.standing(found.id), is_next=False))
    if as_json:
        print_json({**data.todo_data([row], scene.history.attempts)[0], "text": found.text})
        return
    mine = [record for record in scene.history.records if record.name.item == found.id]
    notes = notes_of(scene.repo, mine)
    click.echo(text.item_text(row, [(record.name, notes.get(record.name)) for record in mine]))


@todo.command()
@click.option("--because", metavar="TEXT", help="The reason for what is dropped, done or reopened.")
@with_no_commit
def edit(because: str | None, no_commit: bool) -> None:
    """Edit the whole list as one text in $EDITOR.

    As with git rebase -i, lines are moved, retitled, marked done or dropped, and added.

    Only what changed is written back, in the lines meant. A mistake is named with its line, and the text comes back to the editor.
    """
    from agent.actions.edit_list import apply, list_rows
    from agent.domain import listing

    scene = open_scene(repository())
    listed = list_rows(scene)
    text_now = listing.render(listed)
    while True:
        edited = click.edit(text_now, extension=".agentctl", require_save=True)
        if edited is None:
            click.echo("nothing changed")
            return
        try:
            changes = listing.read(edited, listed)
            break
        except listing.BadLineError as error:
            text_now = _again(edited, error)
    done_edits = apply(scene.repo, scene, changes, now(), because or "", commit=not no_commit)
    if done_edits is None:
        click.echo("nothing changed")
        return
    for path in done_edits.landed.paths:
        click.echo(f"wrote {path}")
    click.echo(f"committed as {done_edits.landed.commit[:10]}" if done_edits.landed.commit else "not committed")


def _again(edited: str, error: BadLineError) -> str:
    """The text to edit once more, or the error where nobody can be asked."""
    click.echo(f"{error.message}\n  {error.hint}", err=True)
    if not sys.stdin.isatty() or not click.confirm("Edit again?", default=True, err=True):
        raise error
    return edited
