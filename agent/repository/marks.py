"""What the index says of paths beside their contents; read again when it has changed."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from agent.repository.git import Git
from agent.repository.stamp import stamp

_LINKS = re.compile(rb"(?:^|\0)[A-Za-z?] 160000 [^\t]*\t([^\0]+)")
_HIDDEN = re.compile(rb"(?:^|\0)[a-zS] [^\t]*\t([^\0]+)")


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
        """Git tells of each file in "TAG MODE ID STAGE<tab>PATH"; few of them are looked into."""
        out = self._git.run("ls-files", "-v", "--stage", "-z")
        return Marks(*(frozenset(map(os.fsdecode, marked.findall(out))) for marked in (_LINKS, _HIDDEN)))
