"""Plain columns for terminals and pipes alike; colours fall away where there is no terminal."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence

from agent.domain.text import one_line
from agent.render.terminal import styled

Cell = tuple[str, str]  # text, colour ("" for none)
_GAP = "  "


def columns(rows: Sequence[Sequence[Cell]], indent: str = "  ") -> str:
    """`rows` aligned; the last column is cut where a terminal would break the line, and never in a pipe."""
    if not rows:
        return ""
    plain = [[(one_line(text, 1000), colour) for text, colour in row] for row in rows]
    count = max(len(row) for row in rows)
    widths = [max((len(row[n][0]) for row in plain if n < len(row)), default=0) for n in range(count)]
    whole = width()
    return "\n".join(_line(row, widths, indent, whole) for row in plain)


def _line(row: Sequence[Cell], widths: Sequence[int], indent: str, whole: int) -> str:
    text, used = indent, len(indent)
    for place, (cell, colour) in enumerate(row):
        last = place == len(row) - 1
        plain = one_line(cell, max(20, whole - used)) if last else cell
        text += _styled(plain, colour) + ("" if last else " " * (widths[place] - len(plain)) + _GAP)
        used += widths[place] + len(_GAP)
    return text.rstrip()


def _styled(text: str, colour: str) -> str:
    if not colour or not coloured():
        return text
    if colour == "bold":
        return styled(text, bold=True)
    return styled(text, dim=True) if colour == "dim" else styled(text, fg=colour)


def coloured() -> bool:
    """Whether colours may be used: stdout is a terminal, and NO_COLOR isn't set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def width() -> int:
    """The width to write for: the terminal's, and as good as none in a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000


def heading(text: str) -> str:
    """A line that stands out on a terminal."""
    return _styled(text, "bold")
