"""Keys that stand in pieces: broken over lines, or put together of strings that stand beside one another."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence

from agent.domain.keys import well_known

Line = tuple[int, str]
_SHORTEST = 16  # characters of a key without what may stand between its pieces; shorter ones would be found in innocent text
_BETWEEN = str.maketrans("", "", " \t\r\n\"'`+\\&,()")
_SEAM = re.compile(r"""\\\r?\n[ \t]*|["'`][ \t]*\\?\r?\n?[ \t]*(?:\+|\.\.?|&|<>)?[ \t]*\\?\r?\n?[ \t]*[rbfuRBFU]{0,2}["'`]""")


def own_in_pieces(lines: Sequence[Line], own: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Line, and variable, where a key of `own` (see `own_keys`) begins that no line holds whole."""
    keys = {short: (value, name) for value, name in own.items() if len(short := _short(value)) >= _SHORTEST}
    told: set[str] = set()
    for block in _blocks(lines) if keys else ():
        whole = _short(_text(block))
        for short, (value, name) in keys.items():
            if name not in told and short in whole and not any(value in text for _, text in block):
                told.add(name)
                yield _last(block, short, _short), name


def known_in_pieces(lines: Sequence[Line]) -> Iterator[tuple[int, str, str]]:
    """Line, kind and text, where a well-known key begins that no line holds whole."""
    for block in _blocks(lines):
        whole = _joined(_text(block))
        for kind, pattern in well_known(whole):
            for match in pattern.finditer(whole):
                if not any(match[0] in text for _, text in block):
                    yield _last(block, match[0], _joined), kind, match[0]


def _blocks(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    """Lines that follow one another."""
    lines = [(number, text.replace("\0", "")) for number, text in lines]  # a file in UTF-16
    begin = 0
    for place in range(1, len(lines) + 1):
        if place == len(lines) or lines[place][0] != lines[place - 1][0] + 1:
            yield lines[begin:place]
            begin = place


def _short(text: str) -> str:
    return text.translate(_BETWEEN)


def _joined(text: str) -> str:
    return _SEAM.sub("", text)


def _text(block: Sequence[Line]) -> str:
    return "\n".join(text for _, text in block)


def _last(block: Sequence[Line], key: str, tidied: Callable[[str], str]) -> int:
    """The number of the last line from which on the block, `tidied`, still holds `key`."""
    return block[bisect_left(range(len(block)), 1, key=lambda place: key not in tidied(_text(block[place:]))) - 1][0]
