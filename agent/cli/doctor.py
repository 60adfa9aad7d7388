"""`agentctl doctor`."""

from __future__ import annotations

import click

from agent.actions.doctor import Finding, fix_all
from agent.actions.doctor import doctor as check_up
from agent.cli.common import print_json, repository, with_json
from agent.errors import Exit
from agent.render.columns import columns, heading

_COLOUR = {"error": "red", "warning": "yellow", "info": "dim"}


@click.command()
@click.option("--fix", is_flag=True, help="Mend what can be mended safely.")
@with_json
def doctor(fix: bool, as_json: bool) -> int:
    """A check-up of .agent/ and of the repository, each finding with its mend.

    Exit status: 1 where something would stop a step, else 0.
    """
    repo = repository()
    found = check_up(repo)
    if fix:
        for fixed in fix_all(found):
            click.echo(f"{'mended' if fixed.ok else 'not mended'}: {fixed.told}", err=True)
        found = check_up(repo)
    if as_json:
        print_json([{"level": one.level, "text": one.text, "mend": one.mend, "fixable": one.fix is not None} for one in found])
    else:
        click.echo(_text(found))
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
