"""A command's output, folded to what a reader needs: no colours, no rewritten lines, no repetition, head and tail."""

from __future__ import annotations

import re
from itertools import groupby

from agent.domain.text import left_out, plain

# ECMA-48: CSI sequences; OSC, DCS, SOS, PM and APC strings up to their end; other escapes with their intermediates.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
)
_OVERSTRUCK = re.compile(r"[^\b\n]\x08")
_LONGEST_LINE = 1000
_REPEATS = 3


def fold_output(raw: str, budget: int) -> str:
    """`raw` for a model or a note, in about `budget` characters (never over `budget` + 100), without control characters but tab and newline.

    The last line that says something is kept; of one that is very long, its ends.
    """
    text = _OVERSTRUCK.sub("", _ESCAPES.sub("", raw.replace("\r\n", "\n")))
    lines = [_last_rewrite(line) for line in text.split("\n")]
    folded = _fold_repeats([plain(line).rstrip() for line in lines])
    shortened = [_shorten(line, min(_LONGEST_LINE, max(budget, 2))) for line in folded]
    return _head_and_tail(_trim(shortened), budget)


def _last_rewrite(line: str) -> str:
    """What a terminal would still show of a line that was rewritten with carriage returns."""
    if "\r" not in line:
        return line
    return next((part for part in reversed(line.split("\r")) if part.strip()), "")


def _fold_repeats(lines: list[str]) -> list[str]:
    folded: list[str] = []
    for line, run in groupby(lines):
        times = sum(1 for _ in run)
        if not line:
            folded.append(line)
        elif times < _REPEATS:
            folded += [line] * times
        else:
            folded += [line, left_out(f"the same line {times - 1} times more,")]
    return folded


def _shorten(line: str, longest: int) -> str:
    if len(line) <= longest:
        return line
    half = longest // 2
    return f"{line[:half]}{left_out(f'{len(line) - 2 * half:,} characters')}{line[-half:]}"


def _trim(lines: list[str]) -> list[str]:
    kept = [number for number, line in enumerate(lines) if line]
    return lines[kept[0] : kept[-1] + 1] if kept else []


def _head_and_tail(lines: list[str], budget: int) -> str:
    """A third of the budget for the head, the rest for the tail, where errors and totals stand."""
    text = "\n".join(lines)
    if len(text) <= budget:
        return text
    tail = _take(lines[::-1], budget - budget // 3)[::-1]
    head = _take(lines[: len(lines) - len(tail)], budget // 3)
    if not tail:
        return lines[-1][-budget:] if budget > 0 else ""
    middle = lines[len(head) : len(lines) - len(tail)]
    size = sum(len(line) + 1 for line in middle)
    return "\n".join([*head, left_out(f"{len(middle):,} lines, {size:,} characters"), *tail])


def _take(lines: list[str], room: int) -> list[str]:
    taken: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        taken.append(line)
    return taken
