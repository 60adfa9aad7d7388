"""`agentctl trust`, and the question that other commands ask where something isn't approved yet."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from agent.actions.trust import everything
from agent.cli.common import print_json, repository, with_json
from agent.domain.text import plain
from agent.domain.trust import Runs
from agent.errors import AgentctlError, Exit
from agent.render.terminal import styled
from agent.repository.programs import Untrusted


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
    if not yes and not asked():
        return Exit.PERSON_NEEDED
    approvals.add(lacking)
    click.echo(f"approved: {len(lacking)} for {repo.top}", err=True)
    return Exit.OK


def shown(runs: Sequence[Runs], lacking: frozenset[str]) -> str:
    """What runs, each with its whole text; what isn't approved is marked."""
    lines = []
    for one in runs:
        new = one.digest in lacking
        first, *rest = plain(one.text).split("\n")
        mark = styled("new", fg="yellow", bold=True) if new else styled("ok ", fg="green")
        lines += [f"{mark}  {one.kind}: {first}{f'  ({one.where})' if one.where else ''}", *(f"     │ {line}" for line in rest)]
    return "\n".join(lines)


def asked() -> bool:
    """Whether a person says yes. Raises AgentctlError where there is nobody to ask."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise AgentctlError(
            "nobody can be asked here whether this may run",
            "agentctl trust, on a terminal; or for a script that has looked: agentctl trust --yes",
            Exit.PERSON_NEEDED,
        )
    return click.confirm("May all this run on this machine, now and from now on?", err=True)


def let_in(stop: Untrusted) -> bool:
    """Where there is a terminal: show what `stop` is about, ask, and keep the answer; whether it was yes."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    click.echo("This repository would run here, for the first time or changed:", err=True)
    click.echo(shown(stop.runs, frozenset(one.digest for one in stop.runs)), err=True)
    if not asked():
        return False
    stop.approvals.add(one.digest for one in stop.runs)
    return True
