"""What a worker is: it gets a brief and a workspace, works, and reports. The gate judges, never the worker."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from msgspec import Struct, field

from agent.domain.progress import Proposed, Remembered
from agent.domain.usage import NOTHING, Usage


class Ending(StrEnum):
    """How a stretch of work ended, in the worker's words."""

    FINISHED = "finished"
    ASKED = "asked"
    GAVE_UP = "gave up"
    LIMIT = "limit"


class Report(Struct, frozen=True):
    """What a worker says it did. `note` is the note, the question, or why it gave up; `limit` which one it met, if it did."""

    ending: Ending
    note: str
    letter: str = ""
    lessons: tuple[Remembered, ...] = ()
    proposals: tuple[Proposed, ...] = ()
    usage: Usage = field(default=NOTHING)
    limit: str = ""


class Session(Protocol):
    """One session's work at one item."""

    def work(self, feedback: str | None) -> Report:
        """Work until "finished" or a limit. `feedback` is None first, later what the gate said against the last report.

        A report's lessons, proposals and usage are the session's so far, not only this stretch's.
        """
        ...
