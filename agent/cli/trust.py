"""`agentctl trust`, and the question that other commands ask where something isn't approved yet."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Sequence

import click

from agent.actions.trust import everything
from agent.cli.common import print_json, repository, with_json
from agent.domain.text import plain
from agent.domain.trust import Runs
from agent.errors import AgentctlError, Exit
from agent.render.terminal import styled
from agent.repository.programs import Untrusted

_BLANKS = re.compile(r"[^\S\n]{12,}|⠀{2,}")  # behind them something may be hidden
_MARGIN = 8  # columns before a row, and one that stays free


@click.command()
@click.option("--yes", is_flag=True, help="Approve without being asked, for scripts.")
@click.option("--revoke", is_flag=True, help="Take back all approvals for this clone.")
@with_json
def trust(yes: bool, revoke: bool, as_json: bool) -> int:
    """Show what this repository runs on this machine, and approve it.

    That is what stands in .agent/ (checks of the settings and of open items, setup, the alert command, what the sandbox lets through, a remote for
    unfinished work) and what git would start (hooks, filters and such settings in .git/). An approval is of the very text, for this clone;
    it is kept in ~/.local/state/agentctl. What changes or comes anew, by a pull say, is asked about again.

    Exit status: 0 all is approved, 6 something isn't.
    """
    repo = repository()
    approvals = repo.programs.approvals
    if revoke:
        approvals.forget()
    runs = everything(repo)
    lacking = approvals.lacking(one.digest for one in runs)
    if as_json:
        print_json([{"kind": one.kind, "text": one.text, "where": one.where, "approved": one.digest not in lacking} for one in runs])
    else:
        click.echo(shown(runs, lacking) if runs else "nothing: neither .agent/ nor git would run anything here")
    if revoke or not lacking:
        return Exit.PERSON_NEEDED if lacking else Exit.OK
    if not yes and not asked(shown(runs, lacking).count("\n") + 1):
        return Exit.PERSON_NEEDED
    approvals.add(lacking)
    click.echo(f"approved: {len(lacking)} for {repo.top}", err=True)
    return Exit.OK


def shown(runs: Sequence[Runs], lacking: frozenset[str]) -> str:
    """What runs, each with its whole text; what isn't approved is marked."""
    lines = []
    for one in runs:
        new = one.digest in lacking
        first, *rest = _BLANKS.sub(lambda run: f"⟨{len(run[0])} blanks⟩", plain(one.text)).split("\n")
        mark = styled("new", fg="yellow", bold=True) if new else styled("ok ", fg="green")
        begin, *more = _folded(f"{one.kind}: {first}{f'  ({one.where})' if one.where else ''}")
        lines += [f"{mark}  {begin}", *(f"     ↳ {line}" for line in more)]
        lines += [f"     {sign} {part}" for line in rest for sign, part in zip(("│", *"↳" * len(line)), _folded(line), strict=False)]
    return "\n".join(lines)


def _folded(line: str) -> list[str]:
    """A line in parts that a terminal shows in one row, so that no row that it begins by itself can pose as another entry; elsewhere in one."""
    room = max(shutil.get_terminal_size().columns - _MARGIN, 20)
    return (
        textwrap.wrap(line, room, break_on_hyphens=False, drop_whitespace=False, replace_whitespace=False) or [""] if sys.stderr.isatty() else [line]
    )


def asked(rows: int) -> bool:
    """Whether a person says yes to what was shown in `rows` lines. Raises AgentctlError where there is nobody to ask."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise AgentctlError(
            "nobody can be asked here whether this may run",
            "agentctl trust, on a terminal; or for a script that has looked: agentctl trust --yes",
            Exit.PERSON_NEEDED,
        )
    if rows > shutil.get_terminal_size().lines:
        click.echo(f"Those are {rows} lines: scroll up to the first, or see agentctl trust | less", err=True)
    return click.confirm("May all this run on this machine, now and from now on?", err=True)


def let_in(stop: Untrusted) -> bool:
    """Where there is a terminal: show what `stop` is about, ask, and keep the answer; whether it was yes."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    click.echo("This repository would run here, for the first time or changed:", err=True)
    told = shown(stop.runs, frozenset(one.digest for one in stop.runs))
    click.echo(told, err=True)
    if not asked(told.count("\n") + 1):
        return False
    stop.approvals.add(one.digest for one in stop.runs)
    return True
