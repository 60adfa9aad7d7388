"""Why a text isn't in a file, and what in the file comes nearest: so that the next try fits."""

from __future__ import annotations

import difflib
import heapq
import re
from collections.abc import Sequence

from agent.domain.text import left_out, plain
from agent.worker.files import Text

_AROUND = 2
_LINES_SHOWN = 12
_LONGEST_LINE = 300
_LINES_COMPARED = 20_000
_COMPARED_WELL = 100
_PIECE, _PIECES = 3, 40  # characters of a piece of a line, and how many are looked for
_BY_CHANCE = 16
_SIMILAR = 0.5


def applied(content: Text, old: str, new: str) -> bool:
    """Whether the edit was made before: every `old` is a part of a `new`; or there is one `new`, and no `old` outside of it but for white space."""
    text = Text(content.normal)
    there = text.find(new) if new.strip() else []
    if here := text.find(old):
        return old in new and all(any(start <= one[0] and one[1] <= end for start, end in there) for one in here)
    return len(there) == 1 and _telling(old, new) and all(there[0][0] < end and start < there[0][1] for start, end in alike(text.body, old))


def _telling(old: str, new: str) -> bool:
    """Whether finding `new` says something: a few characters that have nothing of `old` stand anywhere by chance."""
    if len(new.strip()) >= _BY_CHANCE:
        return True
    pair = difflib.SequenceMatcher(None, old.strip(), new.strip())
    return pair.real_quick_ratio() >= _SIMILAR and pair.ratio() >= _SIMILAR


def explain(content: Text, old: str) -> str:
    """What differs where only white space does, and the lines that come nearest, with their numbers."""
    lines = content.lines
    if found := alike(content.normal, old):
        first, last = (content.normal.count("\n", 0, place) for place in found[0])
        where = "one place fits" if len(found) == 1 else f"{len(found)} places fit"
        return f"But for white space {where}: {_difference(lines[first : last + 1], old)}. The file has:\n{_numbered(lines, first, last + 1)}\n"
    near = _nearest(lines, old)
    if near is None:
        return "Nothing in it comes near: read it again."
    return f"What comes nearest:\n{_numbered(lines, max(0, near - _AROUND), near + len(old.splitlines()) + _AROUND)}\n"


def alike(text: str, old: str) -> list[tuple[int, int]]:
    """Where `old` stands in `text` but for blanks, tabs and line breaks; in time that grows as both do."""
    wanted = " ".join(old.split())
    words = " ".join(text.split())
    if not wanted or wanted not in words:
        return []
    found, at = [], words.find(wanted)
    while at >= 0:
        found += [at, at + len(wanted) - 1]
        at = words.find(wanted, at + len(wanted))
    places = _spread(found, words, text)
    return [(first, last + 1) for first, last in zip(places[0::2], places[1::2], strict=True)]


def _spread(places: Sequence[int], words: str, text: str) -> list[int]:
    """Where in `text` the characters stand that are at `places`, in ascending order, in its `words` with one blank between them."""
    starts = [match.start() for match in re.finditer(r"\S+", text)]
    found, passed, word = [], 0, 0
    for place in places:
        word += words.count(" ", passed, place)
        passed = place
        found.append(starts[word] + place - words.rfind(" ", 0, place) - 1)
    return found


def _difference(real: Sequence[str], old: str) -> str:
    quoted = old.split("\n")
    real_tabs, quoted_tabs = ("\t" in "".join(map(_indent, part)) for part in (real, quoted))
    if real_tabs != quoted_tabs:
        return "it is indented with a tab, `old` with spaces" if real_tabs else "it is indented with spaces, `old` with a tab"
    if any(line != line.rstrip() for line in real) and all(line == line.rstrip() for line in quoted):
        return "it has trailing blanks, `old` has none"
    if any(line != line.rstrip() for line in quoted[:-1]):
        return "`old` has trailing blanks"
    return "lines break elsewhere" if len(real) != len(quoted) else "the number of blanks differs"


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _nearest(lines: Sequence[str], old: str) -> int | None:
    """The line, from 0, where `old` would begin if its longest line stood at the most similar one."""
    quoted = old.split("\n")
    anchor = max(range(len(quoted)), key=lambda number: len(quoted[number].strip()))
    wanted = quoted[anchor].strip()[:_LONGEST_LINE]
    stripped = [line.strip()[:_LONGEST_LINE] for line in lines[:_LINES_COMPARED]]
    close = difflib.get_close_matches(wanted, _promising(list(dict.fromkeys(stripped)), wanted), n=1, cutoff=_SIMILAR)
    return max(0, stripped.index(close[0]) - anchor) if close else None


def _promising(lines: Sequence[str], wanted: str) -> Sequence[str]:
    """Of many lines those that share the most pieces with `wanted`: to compare two lines well takes a thousand times as long."""
    if len(lines) <= _COMPARED_WELL:
        return lines
    pieces = list(dict.fromkeys(wanted[at : at + _PIECE] for at in range(max(1, len(wanted) - _PIECE + 1))))
    some = pieces[:: len(pieces) // _PIECES + 1]
    return heapq.nlargest(_COMPARED_WELL, lines, key=lambda line: (sum(map(line.__contains__, some)), -abs(len(line) - len(wanted))))


def _numbered(lines: Sequence[str], start: int, end: int) -> str:
    return "\n".join(f"{number}│{_cut(plain(line))}" for number, line in enumerate(lines[start:end][:_LINES_SHOWN], start + 1))


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + left_out(f"{len(line) - _LONGEST_LINE:,} characters")
