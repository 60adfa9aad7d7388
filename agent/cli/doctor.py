"""`agentctl doctor`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from agent.actions.doctor import Finding, fix_all
from agent.actions.doctor import doctor as check_up
from agent.actions.survey import Surveyed, survey
from agent.cli.common import print_json, repository, with_json
from agent.errors import Exit
from agent.render.columns import Cell, columns, heading
from agent.worker.sandbox.protocol import Attempt

_COLOUR = {"error": "red", "warning": "yellow", "info": "dim"}


@click.command()
@click.option("--fix", is_flag=True, help="Mend what can be mended safely.")
@with_json
def doctor(fix: bool, as_json: bool) -> int:
    """A check-up of .agent/ and of the repository, each finding with its mend; and what sandboxes keep commands from here, by trying.

    Exit status: 1 where something would stop a step, else 0.
    """
    repo = repository()
    found = check_up(repo)
    if fix:
        for fixed in fix_all(found):
            click.echo(f"{'mended' if fixed.ok else 'not mended'}: {fixed.told}", err=True)
        found = check_up(repo)
    if as_json:
        told = [{"level": one.level, "text": one.text, "mend": one.mend, "fixable": one.fix is not None} for one in found]
        print_json([*told, *({"level": "info", "text": text, "mend": "", "fixable": False} for text in _told(survey()))])
    else:
        click.echo(_text(found))
        click.echo(f"\n{_table(survey())}")
    return Exit.ERROR if any(one.level == "error" for one in found) else Exit.OK


def _text(found: tuple[Finding, ...]) -> str:
    if not found:
        return "all is well"
    lines = []
    for one in found:
        lines.append(columns([[(one.level, _COLOUR[one.level]), (one.text, "")]], indent=""))
        if one.mend:
            lines.append(f"         {one.mend}")
    safe = sum(1 for one in found if one.fix)
    if safe:
        lines.append(heading(f"{safe} of these can be mended safely: agentctl doctor --fix"))
    return "\n".join(lines)


def _told(surveyed: Sequence[Surveyed]) -> list[str]:
    lines = []
    for one in surveyed:
        kept = f"{one.told} keeps commands from: {', '.join(one.held)}" + (f"; not from: {', '.join(one.open)}" if one.open else "")
        lines.append(f"{one.name} doesn't work here: {one.missing}" if one.missing else kept)
    return lines


def _table(surveyed: Sequence[Surveyed]) -> str:
    """What a command can't do in each sandbox that works here, as a table; then those that don't."""
    here = [one for one in surveyed if not one.missing]
    lines = [heading("sandboxes, each tried just now")]
    if here:
        first: list[Cell] = [("a command can't", "bold"), *((one.name, "bold") for one in here)]
        lines.append(columns([first, *(_row(attempt, here) for attempt in Attempt)]))
    return "\n".join([*lines, *(f"  {one.name} doesn't work here: {one.missing}" for one in surveyed if one.missing)])


def _row(attempt: Attempt, here: Sequence[Surveyed]) -> list[Cell]:
    return [(attempt, ""), *(("holds", "green") if attempt in one.held else ("OPEN", "red") for one in here)]
