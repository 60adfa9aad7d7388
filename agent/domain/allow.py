"""What an item's `allow:` may let its steps do that the gate refuses otherwise. Only a person writes it: no step can."""

from __future__ import annotations

from collections.abc import Mapping

NO_CHANGE = "no-change"
WEAKER_TESTS = "weaker-tests"
STILL_RED = "still-red"

MEANINGS: Mapping[str, str] = {
    NO_CHANGE: "the note is what is wanted, no file need change",
    WEAKER_TESTS: "tests may vanish, be skipped, or assert less",
    STILL_RED: "a check that was red before may stay red, if it tells its tests and no more of them fail",
}
"""Each word with what it lets through."""


def is_known(word: str) -> bool:
    """Whether `allow:` may hold `word`."""
    return word in MEANINGS


def listed() -> str:
    """All that `allow:` may hold, for a message."""
    return ", ".join(MEANINGS)
