"""`read`: a text file as numbered lines."""

from __future__ import annotations

from collections.abc import Sequence

from agent.domain.chat import ToolSpec
from agent.domain.text import left_out, one_line, plain
from agent.worker import files
from agent.worker.files import Text
from agent.worker.tools.base import NUMBER, TEXT, Args, Desk, Result, failure, number, schema, text
from agent.worker.tools.outputs import output_named

_LINES = 1000
_CHARACTERS = 24_000
_LONGEST_LINE = 1000


class Read:
    """Tabs stay tabs, and between number and line stands a sign that no source line begins with, so that text can be copied into `edit`."""

    spec = ToolSpec(
        "read",
        "Read a text file; each line comes as NUMBER│TEXT. offset: first line, from 1. limit: how many lines.",
        schema({"path": TEXT}, {"offset": NUMBER, "limit": NUMBER}),
    )

    def brief(self, args: Args) -> str:
        start = number(args, "offset", 1)
        return one_line(text(args, "path") + (f" from line {start}" if start > 1 else ""))

    def run(self, args: Args, desk: Desk) -> Result:
        path = text(args, "path")
        whole = output_named(path, desk)
        data = desk.workspace.load(desk.workspace.readable(path)) if whole is None else whole.encode()
        content = files.as_text(path, data)
        lines = content.lines
        start = number(args, "offset", 1)
        if lines and start > len(lines):
            return failure(f"{path} has {len(lines)} lines; line {start} is past its end.")
        shown = _numbered(lines, start, number(args, "limit", _LINES))
        end = start + len(shown) - 1
        parts = [f"{plain(path)}: {_nature(content, lines)}", *shown, *_rest(path, end, len(lines)), *_long(lines[start - 1 : end])]
        return Result("\n".join(parts), shown=f"{len(shown)} of {len(lines)} lines")


def _numbered(lines: Sequence[str], start: int, limit: int) -> list[str]:
    """At least one line, and no more than the limits of lines and characters allow."""
    shown: list[str] = []
    room = _CHARACTERS
    for place, line in enumerate(lines[start - 1 : start - 1 + min(limit, _LINES)], start):
        numbered = f"{place}│{_cut(plain(line))}"
        room -= len(numbered) + 1
        if room < 0 and shown:
            break
        shown.append(numbered)
    return shown


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + left_out(f"{len(line) - _LONGEST_LINE:,} characters")


def _nature(content: Text, lines: Sequence[str]) -> str:
    words = [f"{len(lines)} lines" if len(lines) != 1 else "1 line"] if lines else ["empty"]
    if content.codec != files.UTF8:
        words.append(content.codec.name)
    crlf = content.body.count("\r\n")
    if crlf:
        words.append("CRLF" if crlf == content.body.count("\n") else "CRLF and LF mixed")
    if lines and not content.body.endswith("\n"):
        words.append("no newline at its end")
    return ", ".join(words)


def _rest(path: str, end: int, total: int) -> list[str]:
    return [left_out(f"{total - end} more lines") + f" read({plain(path)}, offset={end + 1})"] if end < total else []


def _long(lines: Sequence[str]) -> list[str]:
    if not any(len(line) > _LONGEST_LINE for line in lines):
        return []
    return [f"Long lines are cut after {_LONGEST_LINE} characters; `run` with cut -c{_LONGEST_LINE + 1}-{2 * _LONGEST_LINE} shows more."]
