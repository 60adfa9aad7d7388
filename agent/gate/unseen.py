"""Characters that a reader of a change doesn't see, or sees at another place: bidirectional controls, zero-width ones, tags, variation selectors."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from agent.domain.allow import HIDDEN_CHARACTERS
from agent.domain.change import AddedLines, Change
from agent.domain.text import one_line
from agent.gate.protocol import Objection

_WIDTH = 60
_PATH_WIDTH = 120
_OF_A_FILE = 3  # lines of one file that are named
_UNSEEN = "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
_PICTURE = "\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff"
# What these characters are for: flags of regions, pictures of several parts, joined letters of the scripts between Arabic and Mongolian, and one
# selector that chooses a form of a picture, key cap, symbol, Chinese or Mongolian character. A row of them carries data that nobody sees.
_MEANT = (
    f"\U0001f3f4[\U000e0020-\U000e007e]{{1,8}}\U000e007f|(?<=[{_PICTURE}])\u200d(?=[{_PICTURE}])|(?<=[\u0600-\u1fff])[\u200c\u200d]"
    "|(?<=[\u1800-\u18af])[\u180b-\u180d\u180f]|(?<=[#*0-9\xa9\xae\u2000-\u200a\u2010-\u2027\u2030-\u205e\u2070-\u33ff\U0001f000-\U0001faff])[\ufe0e\ufe0f]"
    "|(?<=[\u2000-\u200a\u2010-\u2027\u2030-\u205e\u2070-\u2aff\u3400-\u9fff\U00020000-\U0003ffff])(?:[\ufe00-\ufe02]|[\U000e0100-\U000e01ef])"
)
_RIGHT_TO_LEFT = "[\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
_DIRECTION = "[\u200e\u200f\u061c]"


def unseen(changes: Sequence[Change], added: AddedLines) -> tuple[Objection, ...]:
    """One objection for each added line, and each new name, that holds a character nobody sees, with its code; of a file the first three.

    Let alone are what pictures and scripts are written with: joiners between their parts, marks of direction beside right-to-left letters, a byte
    order mark at a file's beginning. Files that hold NUL are no text.
    """
    named = [change.path for change in changes if change.kind == "added" and _found(change.path)]
    lines = [told for path, texts in added.items() if not any("\0" in text for _, text in texts) for told in _lines(path, texts)]
    return tuple(
        Objection(text, HIDDEN_CHARACTERS)
        for text in [*(f"the name {_told(path, _PATH_WIDTH)}, which a reader doesn't see." for path in named), *lines]
    )


def _lines(path: str, texts: Sequence[tuple[int, str]]) -> Iterator[str]:
    hits = [(number, text) for number, text in texts if _found(text.removeprefix("\ufeff") if number == 1 else text)]
    for number, text in hits[:_OF_A_FILE]:
        yield f"{one_line(path, _PATH_WIDTH)}:{number} {_told(text, _WIDTH)}, which a reader doesn't see."
    if len(hits) > _OF_A_FILE:
        yield f"{one_line(path, _PATH_WIDTH)} holds such characters in {len(hits) - _OF_A_FILE} lines more."


def _found(text: str) -> list[str]:
    if text.isascii():
        return []
    meant = re.sub(_MEANT, "", text)
    return re.findall(_UNSEEN, re.sub(_DIRECTION, "", meant) if re.search(_RIGHT_TO_LEFT, meant) else meant)


def _told(text: str, width: int) -> str:
    codes = dict.fromkeys(_found(text))
    names = ", ".join(f"U+{ord(char):04X} ({unicodedata.name(char, 'no name').lower()})" for char in codes)
    return f"`{one_line(text, width)}` holds {names}"
