"""What a worker writes beside code: its note and letter, lessons and proposed items, before agentctl takes anything out of them."""

from __future__ import annotations

import os
from collections.abc import Collection

from agent.actions.outcome import safe
from agent.domain.progress import Proposed, Remembered
from agent.domain.text import one_line
from agent.gate.protocol import sorted_out
from agent.gate.secrets import secrets_told
from agent.worker.protocol import Report
from agent.worker.tools import Desk

_WIDTH = 60


def texts_of(report: Report) -> list[tuple[str, str]]:
    """Each text with what the worker may call it, safe to show."""
    texts = [("your note", report.note), ("your letter", report.letter)]
    more: list[Remembered | Proposed] = [*report.lessons, *report.proposals]
    return texts + [text for one in more for text in _texts(one)]


def drop_telling(desk: Desk, allow: Collection[str]) -> None:
    """Take lessons and items that hold a secret away, so that the worker, which was told of them, may write them again under another title."""
    desk.lessons[:] = [one for one in desk.lessons if not _tells(one, allow)]
    desk.proposals[:] = [one for one in desk.proposals if not _tells(one, allow)]


def _texts(one: Remembered | Proposed) -> list[tuple[str, str]]:
    kind = "lesson" if isinstance(one, Remembered) else "follow-up item"
    name = f"the {kind} “{one_line(safe(one.title), _WIDTH)}”"
    checks = [(f"the check of {name}", one.check)] if isinstance(one, Proposed) else []
    return [(f"the title of {name}", one.title), (name, one.text), *checks]


def _tells(one: Remembered | Proposed, allow: Collection[str]) -> bool:
    return bool(sorted_out(secrets_told(_texts(one), os.environ), allow)[0])
