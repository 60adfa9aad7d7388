"""`agentctl undo`."""

from __future__ import annotations

import click

from agent.actions.undo import undo as take_back
from agent.cli.common import reason, repository


@click.command()
@click.argument("steps", nargs=-1, required=True)
@click.option("--because", metavar="TEXT", help="Why; the next session at that item reads it.")
def undo(steps: tuple[str, ...], because: str | None) -> None:
    """Take steps back with git revert, and tell why.

    STEPS are step ids, item ids (their latest landed step), commits, or a range FIRST..LAST. The item is open again,
    and what was spent stays counted. A plain `git revert` does just as well.
    """
    undone = take_back(repository(), steps, reason(because, "Why (the next session reads it)"))
    click.echo(undone.text)
