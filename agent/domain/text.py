"""Text that others wrote, made safe to show: control characters become visible, a line stays a line."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

# C0 but tab and newline, DEL, C1; what hides or reorders text (soft hyphen, zero-width, bidi, line separators, tags); lone surrogates.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
    # A variation selector chooses a picture's or a key cap's form; behind others, or in a row, it shows nothing and may carry data.
    '(?<![^\x00-"$-)+-/:-\x7f\ufe00-\ufe0f][\ufe00-\ufe0f])'
)
_BREAK = re.compile(r"[ \t]*\n\s*")
_BLANKS = re.compile(r"[ \t]+")
_CUT = re.compile("⟦[^⟧\n]* left out[^⟧\n]*⟧")


def plain(text: str) -> str:
    """`text` with newlines and tabs as they are and every other control, hidden or reordering character as a backslash, `u` and its code.

    That spelling is an escape in JSON, so that a model which copies it into an argument means the character itself.
    """
    return visible(text, _code)


def visible(text: str, spelling: Callable[[str], str]) -> str:
    """`text` with each of those characters in the `spelling` that a format has for them."""
    return _HIDDEN.sub(lambda match: spelling(match[0]), text)


def _code(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - the last code point that four digits hold


def one_line(text: str, width: int = 120) -> str:
    """`text` as one line of at most `width` columns, safe for a terminal; line breaks show as ⏎."""
    if len(text) <= width and text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    line = _BLANKS.sub(" ", plain(_BREAK.sub(" ⏎ ", text.strip()))).strip()
    columns = 0
    for place, char in enumerate(line):
        columns += _columns(char)
        if columns > width:
            return _fit(line[:place], width - 1) + "…" if width > 0 else ""
    return line


def _fit(line: str, width: int) -> str:
    while line and sum(map(_columns, line)) > width:
        line = line[:-1]
    return line


def _columns(char: str) -> int:
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def first_of(paths: Sequence[str], most: int, width: int) -> str:
    """The first `most` of `paths` in one line, each of at most `width` columns and safe for a terminal, and how many more there are."""
    more = f" and {len(paths) - most} more" if len(paths) > most else ""
    return ", ".join(one_line(path, width) for path in paths[:most]) + more


def left_out(what: str) -> str:
    """The mark that stands where agentctl cut a text for the model: `⟦12 lines left out⟧`. Edits that contain one are refused."""
    return f"⟦{what} left out⟧"


def cut_marks(text: str) -> frozenset[str]:
    """All marks of `left_out` in `text`, with or without a hint in them."""
    return frozenset(_CUT.findall(text))
