"""`run`: a command in the workspace's root."""

from __future__ import annotations

import os

from agent.domain.chat import ToolSpec
from agent.domain.output import fold_output
from agent.domain.redact import redact
from agent.domain.text import left_out, one_line
from agent.worker.shell import Completed
from agent.worker.tools.base import LONGEST_TOOL, TEXT, Args, Desk, Result, failure, number, required_text, schema, text
from agent.worker.tools.outputs import kept_output

_TIMEOUT = 120
_CHARACTERS = 8000
_COMMAND = 100_000


class Run:
    """No input, no terminal; what the command leaves running ends with it."""

    spec = ToolSpec(
        "run",
        f"Run a shell command in the root folder, without input or terminal; background processes end with it. timeout: seconds, default {_TIMEOUT}. "
        "Move and delete files with it (mv, rm). Don't commit: agentctl does.",
        schema({"command": TEXT}, {"timeout": {"type": "integer", "minimum": 1, "maximum": LONGEST_TOOL}}),
    )

    def brief(self, args: Args) -> str:
        return one_line(text(args, "command"))

    def run(self, args: Args, desk: Desk) -> Result:
        command = required_text(args, "command", _COMMAND)
        timeout = number(args, "timeout", _TIMEOUT)
        if desk.shell is None:
            return failure("No commands are run here.")
        done = desk.shell.run(command, timeout)
        head = _head(done, timeout)
        return Result(f"{head}\n{_told(done, desk) or '(no output)'}", ok=done.code == 0, shown=one_line(head))


def _told(done: Completed, desk: Desk) -> str:
    """The output without keys; of a long one what a reader needs, and how to read the whole."""
    output = redact(done.output, os.environ)
    if len(output) <= _CHARACTERS:
        return fold_output(output, _CHARACTERS)
    condense = fold_output if done.code == 0 else desk.condense
    return f"{left_out('a part of it')} read({kept_output(output, desk)})\n{condense(output, _CHARACTERS)}"


def _head(done: Completed, timeout: int) -> str:
    if done.timed_out:
        return f"Ended after {timeout} s, its time limit, with all it started. `timeout` may be at most {LONGEST_TOOL}."
    return f"exit code {done.code} after {done.seconds:.1f} s"
