"""What an item's `allow:` may let its steps do that the gate refuses otherwise. Only a person writes it: no step can."""

from __future__ import annotations

import re
from collections.abc import Mapping

NO_CHANGE = "no-change"
WEAKER_TESTS = "weaker-tests"
STILL_RED = "still-red"
HIDDEN_CHARACTERS = "hidden-characters"
AUTOMATION = "automation"
CHECK_SCRIPTS = "check-scripts"
FALSE_ALARM = "no-secret-"
"""Before the fingerprint of a text that looks like a secret and is none; the gate's refusal tells it."""

_FINGERPRINT = rf"{FALSE_ALARM}[0-9a-f]{{8}}"

MEANINGS: Mapping[str, str] = {
    NO_CHANGE: "the note is what is wanted, no file need change",
    WEAKER_TESTS: "tests may vanish, be skipped, or assert less",
    STILL_RED: "a check that was red before may stay red, if it tells its tests and no more of them fail",
    HIDDEN_CHARACTERS: "added lines and names may hold characters that a reader doesn't see",
    AUTOMATION: "files of CI, hooks, editor tasks and the like, which run by themselves elsewhere, may change",
    CHECK_SCRIPTS: "scripts that a check or setup runs may change",
    f"{FALSE_ALARM}FINGERPRINT": "the text of this fingerprint, which the refusal tells, is no secret",
}
"""Each word with what it lets through."""

_LOOKS = r"(?i)\W*(?:review|audit|investigate|analy[sz]e|assess|evaluate|summari[sz]e|survey|inspect|find out|look (?:at|into|over|through|for)|report on)\b"


def of_title(title: str) -> tuple[str, ...]:
    """What a title asks for by itself: one that begins with a word for looking ("Review …") wants a note, and no change."""
    return (NO_CHANGE,) if re.match(_LOOKS, title) else ()


def is_known(word: str) -> bool:
    """Whether `allow:` may hold `word`."""
    return (word in MEANINGS and word != f"{FALSE_ALARM}FINGERPRINT") or bool(re.fullmatch(_FINGERPRINT, word))


def listed() -> str:
    """All that `allow:` may hold, for a message."""
    return ", ".join(MEANINGS)
