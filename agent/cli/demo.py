"""`agentctl demo`: the whole round, with the real commands."""

from __future__ import annotations

import os
import sys
import tempfile
import textwrap
from importlib.util import find_spec
from pathlib import Path

import click

from agent.actions.demo import CHECK, GOAL, MODEL, make_repository
from agent.actions.overview import log_lines
from agent.actions.scene import open_scene
from agent.domain.names import Outcome
from agent.errors import AgentctlError, Exit
from agent.render.terminal import styled
from agent.repository.repo import Repo


@click.command()
@click.argument("folder", metavar="[DIR]", required=False)
@click.pass_context
def demo(ctx: click.Context, folder: str | None) -> int:
    """Show the whole round in a new small repository in DIR (else in a temporary folder).

    The replies are recorded: no model is called and nothing is spent. All else is real: the tools, pytest, git, and the
    commands, which you can type again there.
    """
    if find_spec("pytest") is None:
        raise AgentctlError("the demo's checks need pytest, which isn't installed beside agentctl", f"{sys.executable} -m pip install pytest")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    place = Path(folder) if folder else Path(tempfile.mkdtemp(prefix="agentctl-demo-")) / "till"
    repo = make_repository(place)
    show = _Show(ctx.find_root(), repo)
    _tell(f"A small repository in {place}: a till with three functions to write, and tests that fail. The replies of the model are")
    _tell("recorded (replies.yaml): no model is called, nothing is spent. Tools, pytest, commits and all commands are real.")
    show.command("init", "--goal", GOAL, "--check", CHECK, "--model", MODEL)
    show.command("plan", "--from", "plan.md")
    show.command("todo")
    _tell("One step: a fresh session at the next item. agentctl runs the checks itself, then commits code and note together.")
    show.command("step")
    _tell("The next session claims that all tests pass. They don't: nothing lands, the tree is put back, a note says why.")
    show.command("step")
    _tell("The session after that knows nothing but what the repository holds: it reads the failed attempt, and mends it.")
    show.command("step")
    show.command("step")
    show.command("log")
    show.command("note", "give-change-in-the-fewest-coins")
    _tell("A reviewer doesn't like the receipt. Undo is git revert with a reason; a plain git revert would do as well.")
    landed = next(line.record for line in log_lines(open_scene(repo), "print-a-receipt") if line.record.name.outcome is Outcome.DONE)
    show.command("undo", str(landed.name.step), "--because", "Amounts must line up on the right, or nobody can read the column.")
    _tell("The item is open again, since its note is gone; and the next session is told why:")
    show.command("todo")
    show.command("context", only="# Earlier attempts")
    show.command("step")
    show.command("status")
    show.command("cost")
    click.echo()
    _tell("Look around there: git log, .agent/, agentctl context. For a repository of your own and a real model:")
    click.echo(
        textwrap.dedent("""
        cd YOUR-REPOSITORY
        export ANTHROPIC_API_KEY=…                       # or OPENAI_API_KEY, …: any model that litellm knows
        agentctl init --goal "WHAT YOU WANT" --model anthropic/claude-sonnet-4-5
        agentctl plan
        agentctl step                                    # again and again; agentctl log, git revert what you don't like
        """).rstrip()
    )
    return Exit.OK


def _tell(text: str) -> None:
    click.echo(styled(text, fg="cyan", bold=True))


class _Show:
    """Runs agentctl's own commands in the demo's repository, showing each as it would be typed."""

    def __init__(self, root: click.Context, repo: Repo) -> None:
        self._group = root.command
        self._repo = repo

    def command(self, *args: str, only: str = "") -> None:
        """Run a command; with `only` of what it prints just the part that begins so."""
        shown = " ".join(f'"{arg}"' if " " in arg else arg for arg in args)
        click.echo(styled(f"\n$ agentctl {shown}", bold=True))
        sys.stdout.flush()
        if only:
            self._part(args, only)
            return
        self._group.main(args=["-C", str(self._repo.top), *args], prog_name="agentctl", standalone_mode=False)
        sys.stdout.flush()
        if args[0] in ("todo", "step", "undo", "log", "note"):
            click.echo()

    def _part(self, args: tuple[str, ...], only: str) -> None:
        from click.testing import CliRunner

        printed = CliRunner().invoke(self._group, ["-C", str(self._repo.top), *args]).stdout
        parts = printed.split("\n# ")
        click.echo("\n".join(f"# {part}".rstrip() + "\n" for part in parts if f"# {part}".startswith(only)))
