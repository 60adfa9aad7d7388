"""What the index says of paths beside their contents; read again when it has changed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from agent.repository.git import Git
from agent.repository.stamp import stamp

_PLAIN = (b"\0H 100", b"\0H 120")  # files and links that nothing is said of


class Marks(NamedTuple):
    """Submodules, and files whose changes git is told not to look at (assume-unchanged, skip-worktree); relative to the top."""

    links: frozenset[str]
    hidden: frozenset[str]


class Index:
    """The index in `git_dir`."""

    def __init__(self, git: Git, git_dir: Path) -> None:
        self._git = git
        self._file = git_dir / "index"
        self._known: tuple[object, Marks] = (None, Marks(frozenset(), frozenset()))

    def marks(self) -> Marks:
        """Its marks. git replaces the file at each change, so another one has another number, size or time."""
        now = stamp(self._file)
        if now is None or now != self._known[0]:
            self._known = now, self._read()
        return self._known[1]

    def _read(self) -> Marks:
        """Git tells of each file in "TAG MODE ID STAGE<tab>PATH"; there are thousands, and few are looked into: of none, where all are plain."""
        told = b"\0" + self._git.run("ls-files", "-v", "--stage", "-z")
        if sum(map(told.count, _PLAIN)) == told.count(b"\0") - 1:
            return Marks(frozenset(), frozenset())
        lines = told.split(b"\0")[1:]
        links = [line for line in lines if line.startswith(b"160000 ", 2)]
        hidden = [line for line in lines if not line.startswith(b"H") and (line[:1].islower() or line[:1] == b"S")]
        return Marks(*(frozenset(os.fsdecode(line.partition(b"\t")[2]) for line in marked) for marked in (links, hidden)))
