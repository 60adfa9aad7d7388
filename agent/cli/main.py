"""The entry point: one group, its commands loaded when they are called, one place where errors become messages and exit codes."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

import click

from agent import __version__
from agent.errors import AgentctlError, Exit
from agent.render.terminal import guarded, styled

_COMMANDS = {
    "init": ("agent.cli.begin", "Begin: write .agent/ with goal, settings and checks, and commit it."),
    "plan": ("agent.cli.plan", "Cut the goal into items, with the model, from a file, or one for each file."),
    "todo": ("agent.cli.todo", "The list: show it, add, edit, finish, reopen, drop."),
    "step": ("agent.cli.step", "Take one step: one item, checked by agentctl, one commit."),
    "run": ("agent.cli.run", "Take steps until the list is done, a bound is reached, or a person is needed."),
    "status": ("agent.cli.show", "Where things stand."),
    "log": ("agent.cli.show", "The steps: outcome, item, cost, and what was undone."),
    "note": ("agent.cli.letters", "Read a step's note, or leave a letter to the next session."),
    "handoff": ("agent.cli.letters", "The current letter."),
    "transcript": ("agent.cli.transcript", "The whole conversation of a step, where the config has it kept."),
    "context": ("agent.cli.show", "What a fresh session would read, at any commit."),
    "undo": ("agent.cli.undo", "Take steps back, with the reason: git revert."),
    "cost": ("agent.cli.show", "What was spent, by day, item and model."),
    "trust": ("agent.cli.trust", "What this repository runs on this machine: show it, and approve it."),
    "doctor": ("agent.cli.doctor", "A check-up of .agent/ and of the repository."),
    "demo": ("agent.cli.demo", "The whole round in a small repository, with recorded replies."),
}


class _Lazy(click.Group):
    """A group that imports a command's module when it is called for; the list of commands needs none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        command = getattr(importlib.import_module(_COMMANDS[cmd_name][0]), cmd_name)
        assert isinstance(command, click.Command)  # noqa: S101 - tells mypy what the table above holds
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, told) for name, (_, told) in _COMMANDS.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(f"{error.message} The commands: {', '.join(_COMMANDS)}.", ctx) from None


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="agentctl")
@click.option("-C", "folder", metavar="DIR", help="Work as if started in DIR.")
@click.pass_context
def cli(ctx: click.Context, folder: str | None) -> None:
    """A coding agent whose whole memory is the repository that it works on.

    A step is one session of a model at one item of the list: it lands as one commit, after agentctl ran the checks and
    saw them pass. Everything that a fresh session needs is in .agent/ and in the git log; git revert takes a step back.
    """
    ctx.obj = folder


class _Terminated(BaseException):
    """SIGTERM or SIGHUP came."""


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    """The first signal ends what is under way and saves it; a second one leaves at once, which the next command picks up."""
    del frame
    for each in _STOPPING:
        if signal.getsignal(each) is _stop:
            signal.signal(each, _leave)
    raise KeyboardInterrupt if number == signal.SIGINT else _Terminated


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    del frame
    os._exit(128 + (signal.SIGTERM if number == signal.SIGHUP else number))


_STOPPED = "agentctl status shows where things stand; agentctl step goes on from there"
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> NoReturn:
    """Run the command line and leave with its exit code. Nothing but a bug of ours shows a traceback."""
    for number in _STOPPING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, and a shell's background jobs, mean it
            signal.signal(number, _stop)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    gc.disable()  # most commands end before their garbage is worth a search through all that they read; `step` and `plan` turn it on
    code = run(sys.argv[1:])
    gc.freeze()  # nor is the search that the interpreter makes when it ends
    sys.exit(code)


def run(args: list[str]) -> int:
    """Run the command line in this process, and give its exit code. All that it prints goes through `agent.render.terminal`."""
    with guarded():
        return _run(args)


def _run(args: list[str]) -> int:  # noqa: PLR0911 - one for each way to end
    try:
        from agent.repository.git import forget_inherited_location

        forget_inherited_location()
        return _obey(args)
    except AgentctlError as error:
        say_error(error.message, error.hint)
        return error.code
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return Exit.USAGE
    except (KeyboardInterrupt, click.Abort):
        say_error("interrupted", _STOPPED)
        return Exit.INTERRUPTED
    except _Terminated:
        say_error("ended by a signal", _STOPPED)
        return Exit.TERMINATED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except OSError as error:
        say_error(_os_words(error), "mend that, then type the command again; nothing of yours was changed")
        return Exit.ERROR
    except Exception as error:  # noqa: BLE001 - the last door: a bug of ours
        from agent.cli.bug import words_of

        say_error(*words_of(error, args))
        return Exit.BUG


def _obey(args: list[str]) -> int:
    """Run the command; where it would run what isn't approved, and a person is there and approves it, once more. It has changed nothing by then."""
    from agent.repository.programs import Untrusted

    try:
        return int(cli.main(args=args, prog_name="agentctl", standalone_mode=False) or 0)
    except Untrusted as stop:
        from agent.cli.trust import let_in

        if not let_in(stop):
            raise
    return int(cli.main(args=args, prog_name="agentctl", standalone_mode=False) or 0)


def say_error(message: str, hint: str) -> None:
    """One sentence what is wrong, one what to type, on stderr, without the person's keys: errors are pasted into reports."""
    click.echo(styled("agentctl: ", fg="red", bold=True) + _safe(message), err=True)
    if hint:
        click.echo(f"  {_safe(hint)}", err=True)


def _safe(text: str) -> str:
    from agent.domain.redact import redact

    return redact(text, os.environ)


def _os_words(error: OSError) -> str:
    if isinstance(error, FileNotFoundError) and error.filename is None:
        return "the current directory no longer exists: cd to it again"
    return f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
