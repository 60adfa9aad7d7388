"""A note that git writes for us while neither journal nor record tells of it: what a kill leaves of that is known to be ours."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from agent.durable import write_whole
from agent.repository.repo import Repo


@contextlib.contextmanager
def noted(repo: Repo) -> Iterator[None]:
    """The note is there, and on disk, as long as this is held."""
    write_whole(_note(repo), b"")
    try:
        yield
    finally:
        over(repo)


def since(repo: Repo) -> float:
    """When the note was made that a kill has left, in seconds since 1970; 0.0 where there is none."""
    try:
        return _note(repo).stat().st_mtime
    except OSError:
        return 0.0


def over(repo: Repo) -> None:
    """What the note tells of is over."""
    _note(repo).unlink(missing_ok=True)


def _note(repo: Repo) -> Path:
    return repo.private / "at-work"
