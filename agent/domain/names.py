"""Names of files in `.agent/`: slugs, step ids, and what a note's name says."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from functools import cache
from itertools import repeat
from typing import Self

LONGEST = 60
_HANDY = 40
NAME = re.compile(r"[a-z0-9]+(?:-+[a-z0-9]+)*")
_MOMENT = "([0-9]{4}-[0-9]{2}-[0-9]{2})%s((?:[01][0-9]|2[0-3])[0-5][0-9][0-5][0-9])"
_NOTE = re.compile(rf"(?:.*/)?notes/{_MOMENT % '/'}-([a-z0-9-]+)\.([a-z]+)\.md")
_NAMED = len("2026-11-29-130355-")  # where the name begins in a step's id
_STEP = re.compile(rf"{_MOMENT % '-'}-([a-z0-9-]{{1,60}})")


class Outcome(StrEnum):
    """How a step ended, or what a person said: the last word of a note's name."""

    DONE = "done"
    FAILED = "failed"
    BLOCKED = "blocked"
    REOPENED = "reopened"
    DROPPED = "dropped"
    LETTER = "letter"

    __hash__ = str.__hash__  # an enum's own is a slow detour over the member's name


def slug(title: str) -> str:
    """A file name for `title`: `[a-z0-9-]`, at most 40 characters so that it can be typed, never empty, cut where a word ends."""
    ascii_text = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode("ascii").lower()
    words = "-".join(re.findall(r"[a-z0-9]+", ascii_text))
    if not words:
        return f"item-{tail(title)}"
    if len(words) <= _HANDY:
        return words
    return words[: _HANDY + 1].rpartition("-")[0] or words[:_HANDY]


def tail(seed: str) -> str:
    """Four characters that follow from `seed`, so that names chosen on two branches differ."""
    digest = int.from_bytes(hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    letters = "abcdefghijkmnpqrstuvwxyz23456789"
    return "".join(letters[digest >> (5 * place) & 31] for place in range(4))


def slug_with_tail(title: str, seed: str) -> str:
    """A slug that carries four characters more, drawn from `seed`."""
    return f"{slug(title)}-{tail(seed)}"


class StepId(str):  # its text, taken apart where that is asked for: a history of ten thousand makes, sorts and looks up each several times
    """A step's id, `2026-11-29-130355-convert-fixtures`; ids sort by time (UTC), then by name."""

    __slots__ = ()

    def __new__(cls, day: str, time: str, name: str) -> Self:
        return super().__new__(cls, f"{day}-{time}-{name}")

    @property
    def day(self) -> str:
        """The day (UTC), `2026-11-29`."""
        return self[:10]

    @property
    def time(self) -> str:
        """The time of day (UTC), `130355`."""
        return self[11:17]

    @property
    def name(self) -> str:
        """What it was at: an item's id, `plan`, or a letter's name."""
        return self[_NAMED:]

    @property
    def at(self) -> datetime:
        """When, in UTC, to the second."""
        return datetime.strptime(self[:17], "%Y-%m-%d-%H%M%S").replace(tzinfo=UTC)

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The id that `text` is, or None."""
        match = _STEP.fullmatch(text)
        return cls.known(text) if match and _is_day(match[1]) else None

    @classmethod
    def known(cls, text: str) -> Self:
        """The id whose text `text` is known to be: nothing is looked at."""
        return str.__new__(cls, text)


class NoteName(str):  # as above
    """What a note's path says: which step, and how it ended. As a text `STEP OUTCOME`, which sorts by step, then by outcome."""

    __slots__ = ()

    def __new__(cls, step: StepId, outcome: Outcome) -> Self:
        return super().__new__(cls, f"{step} {outcome}")

    @property
    def step(self) -> StepId:
        """The step's id."""
        return str.__new__(StepId, self[: self.index(" ")])

    @property
    def item(self) -> str:
        """The step's name."""
        return self[_NAMED : self.index(" ")]

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        return _OUTCOMES[self[self.index(" ") + 1 :]]

    @property
    def path(self) -> str:
        """The note's path inside `.agent/`."""
        step, outcome = self.step, self.outcome
        return f"notes/{step.day}/{step.time}-{step.name}.{outcome}.md"

    @classmethod
    def parse(cls, path: str) -> Self | None:
        """The note whose path ends so, or None where the path is no note's."""
        match = _NOTE.fullmatch(path)
        if not match or match[4] not in _OUTCOMES or not _is_day(match[1]):
            return None
        return cls(StepId(match[1], match[2], match[3]), _OUTCOMES[match[4]])


def known_names(texts: Iterable[str]) -> Iterator[NoteName]:
    """The names whose texts `texts` are known to be: nothing is looked at."""
    return map(str.__new__, repeat(NoteName), texts)


@cache
def _is_day(day: str) -> bool:
    """Whether these digits are a day: a person may give a file any name. Not of the last year of all, since later steps have to come after it."""
    try:
        date.fromisoformat(day)
    except ValueError:
        return False
    return day < "9999"


_OUTCOMES = {outcome.value: outcome for outcome in Outcome}


def next_step_id(name: str, now: datetime, latest: StepId | None) -> StepId:
    """An id for `name`, strictly later than `latest` even where the clock stands still or went back."""
    moment = now.astimezone(UTC).replace(microsecond=0)
    if latest is not None and moment <= latest.at:
        moment = latest.at + timedelta(seconds=1)
    return StepId(moment.strftime("%Y-%m-%d"), moment.strftime("%H%M%S"), name)
