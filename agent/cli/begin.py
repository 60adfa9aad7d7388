"""`agentctl init`."""

from __future__ import annotations

import os
import sys

import click

from agent.actions.init import begin, place_for
from agent.cli.common import here, with_no_commit


@click.command()
@click.option("--goal", metavar="TEXT", help="What should be true when all is done.")
@click.option("--check", "checks", metavar="CMD", multiple=True, help="A command that must exit 0 before a step may land; may be repeated.")
@click.option("--model", metavar="NAME", help="The model, by its litellm name.")
@with_no_commit
def init(goal: str | None, checks: tuple[str, ...], model: str | None, no_commit: bool) -> None:
    """Begin: write .agent/ and commit it.

    Finds likely checks by reading files (nothing is run). In a monorepo, started inside a package, .agent/ goes into the
    package's folder. What exists is left as it is, so a second run changes nothing.
    """
    repo = place_for(here())
    asked = goal is None and not checks and model is None and sys.stdin.isatty() and sys.stdout.isatty()
    if asked and not (repo.root / ".agent" / "goal.md").exists():
        goal = click.prompt("The goal, in a sentence or two (empty: write it later)", default="", show_default=False)
    begun = begin(repo, goal=goal or "", checks=checks, model=model or "", commit=not no_commit)
    for problem in begun.broken:
        click.echo(f"could not read {problem}", err=True)
    for found in begun.found:
        click.echo(f"found check `{found.command}`: {found.why}")
    if not begun.found and not checks and begun.landed:
        click.echo("found no check: name one in .agent/config.yaml, or every step lands unchecked")
    if begun.landed is None:
        click.echo(f"{_near(begun.root)} was there already; nothing changed")
        return
    for path in begun.landed.paths:
        click.echo(f"wrote {path}")
    click.echo(f"committed as {begun.landed.commit[:10]}" if begun.landed.commit else "not committed: git add .agent && git commit")
    click.echo("next: agentctl plan, or agentctl todo add TITLE; then agentctl step", err=True)


def _near(root: os.PathLike[str]) -> str:
    return os.path.join(os.path.relpath(root), ".agent").removeprefix("./")  # noqa: PTH118 - a relative path to show
