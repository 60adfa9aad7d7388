"""Writes the generated pages: docs/commands.md from the help texts, and the session in README.md by running it.

`python docs/generate.py` writes them; `tests/test_docs.py` holds that they are current.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from agent.actions.demo import make_repository
from agent.cli.main import cli

TOP = Path(__file__).parent.parent
_BEGIN, _END = "<!-- session: made by docs/generate.py -->", "<!-- end of session -->"
_CHECK = "python -m pytest -q tests/test_parse.py"
_SESSION: tuple[tuple[str, ...], ...] = (
    ("init", "--goal", "A till that adds up, gives change and prints receipts.", "--check", _CHECK, "--model", "scripted:replies.yaml"),
    ("plan", "--from", "plan.md"),
    ("step",),
    ("step",),
    ("step",),
    ("log",),
    ("undo", "give-change-in-the-fewest-coins", "--because", "Refuse amounts that aren't whole cents, too."),
    ("todo",),
)


def commands_page() -> str:
    """docs/commands.md: the help text of every command."""
    parts = ["# Commands\n\nMade from the help texts by `docs/generate.py`.\n"]
    with _context(cli, "agentctl", None) as top:
        parts += [_section(context) for context in (top, *_below(top))]
    return "\n".join(parts)


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    """A context as the command line makes it, 100 columns wide."""
    return click.Context(command, parent=parent, info_name=name, terminal_width=100, **command.context_settings)


def _below(context: click.Context) -> Iterator[click.Context]:
    if not isinstance(context.command, click.Group):
        return
    for name in context.command.list_commands(context):
        command = context.command.get_command(context, name)
        if command is not None:
            child = _context(command, name, context)
            yield child
            yield from _below(child)


def _section(context: click.Context) -> str:
    return f"## {context.command_path}\n\n```\n{context.get_help().rstrip()}\n```\n"


def session() -> str:
    """A real session in the demo's repository, commands and what they print (stderr and stdout together)."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "till"
        make_repository(place)
        return "\n".join(_ran(place, args) for args in _SESSION)


def _ran(place: Path, args: tuple[str, ...]) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(TOP), "NO_COLOR": "1"}
    environment.pop("AGENTCTL_MODEL", None)
    done = subprocess.run(  # noqa: S603 - our own command line
        [sys.executable, "-m", "agent", *args], cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    shown = " ".join(f'"{arg}"' if " " in arg else arg for arg in args)
    return f"$ agentctl {shown}\n{done.stdout.decode()}"


def steady(text: str) -> str:
    """`text` with what differs from run to run made the same: commit ids, times, durations, and the tests' order of ending."""
    text = re.sub(r"\b[0-9a-f]{10}\b", "0123456789", text)
    text = re.sub(r"\d{4}-\d\d-\d\d([- ])\d\d:?\d\d(\d\d)?", r"2026-01-01\g<1>00:00", text)
    text = re.sub(r"(?<![\d.])\d+(\.\d+)? s\b", "0 s", text)
    text = re.sub(r"\d+ tokens of brief", "0 tokens of brief", text)
    return re.sub(r" \(0 s\)", "", text)


def readme(text: str, shown: str) -> str:
    """README's text with the session put in."""
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n\n```console\n{shown.rstrip()}\n```\n\n{_END}{after}"


def session_in(text: str) -> str:
    """The session that README's text holds."""
    return text.partition(_BEGIN)[2].partition(_END)[0].strip().removeprefix("```console\n").removesuffix("\n```")


def main() -> None:
    """Write both pages."""
    (TOP / "docs" / "commands.md").write_text(commands_page(), "utf-8")
    page = TOP / "README.md"
    page.write_text(readme(page.read_text("utf-8"), session()), "utf-8")


if __name__ == "__main__":
    main()
