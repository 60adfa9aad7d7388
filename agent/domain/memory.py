"""All that `.agent/` holds at one commit, and what the log says beside it: the two inputs of a brief."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct, field

from agent.domain.config import Config
from agent.domain.lesson import Lesson
from agent.domain.message import Told
from agent.domain.names import NoteName, Outcome, StepId
from agent.domain.todo import Item, Standing, standings


class Memory(Struct, frozen=True, dict=True):
    """`.agent/` at `commit`. `items` by id, `notes` by time; `guides` are the repository's own instructions, (path, text)."""

    commit: str
    config: Config
    goal: str
    items: tuple[Item, ...]
    notes: tuple[NoteName, ...]
    lessons: tuple[Lesson, ...]
    guides: tuple[tuple[str, str], ...] = ()

    @cached_property
    def standings(self) -> Mapping[str, Standing]:
        """Each item's standing; an item without a note has none here and is open."""
        return standings(self.notes)

    @property
    def latest(self) -> StepId | None:
        """The id of the newest note, or None."""
        return self.notes[-1].step if self.notes else None

    def item(self, identity: str) -> Item | None:
        """The item of that id, or None."""
        return next((item for item in self.items if item.id == identity), None)


class Commit(Struct, frozen=True):
    """A commit as the log tells it; `when` is ISO 8601 in UTC, `files` are relative to the folder of `.agent/`."""

    id: str
    author: str
    when: str
    message: str
    files: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """The message's first line."""
        return self.message.strip().partition("\n")[0]


class Record(NamedTuple):  # a tuple, as thousands are put in order
    """A step as history tells it: its note's name, the commit that brought it, and what undid it."""

    name: NoteName
    commit: str | None
    undone: bool = False
    undone_by: Commit | None = None


_ATTEMPTS = (Outcome.DONE, Outcome.FAILED, Outcome.BLOCKED)


class History(Struct, frozen=True, dict=True):
    """What the log up to a commit says.

    `records`: every step ever, by time, undone ones too. `arrival`: for each item's id its place in the order of arrival.
    `since`: people's commits since the last letter, newest first. `merged`: notes that the last letter's writer could not see (both only
    where a brief is made), and `unread` how many more are older than those in `since`. `told`: what commits' trailers say of their steps.
    `shallow`: this clone lacks what lies before its oldest commits.
    """

    records: tuple[Record, ...] = ()
    arrival: Mapping[str, int] = field(default_factory=dict)
    since: tuple[Commit, ...] = ()
    merged: tuple[NoteName, ...] = ()
    unread: int = 0
    told: Mapping[StepId, Told] = field(default_factory=dict)
    shallow: bool = False

    @cached_property
    def attempts(self) -> Counter[str]:
        """How many steps were taken at each item (0 where none was), undone ones too, without what people said by hand."""
        return Counter(record.name.item for record in self.records if record.name.outcome in _ATTEMPTS)
