"""What the index says of paths beside their contents; read again when it has changed."""

from __future__ import annotations

import os
from pathlib import Path

from agent.repository.git import Git
from agent.repository.stamp import stamp

# As gitformat-index(5) has them, in each of its versions: the mode of a submodule; and the name of what says that entries lie in another file, with the
# first byte of its size. The same bytes may stand there for something else, so git is asked then. A folder that is one entry holds no submodule.
_TELLING = (b"\0\0\xe0\0", b"link\0")
_LONGEST = max(map(len, _TELLING))
_PORTION = 1 << 16  # bytes; larger ones would be fresh memory each time
_LINK = "160000"
_PLAIN = b"\0H "


class Index:
    """The index in `git_dir`. git replaces the file at each change, so another one has another number, size or time."""

    def __init__(self, git: Git, git_dir: Path) -> None:
        self._git = git
        self._file = git_dir / "index"
        self._read: object = None
        self._links: frozenset[str] | None = None
        self._hidden: frozenset[str] | None = None

    def state(self) -> tuple[int, int, int] | None:
        """What tells this index from an earlier or later one; None where there is none."""
        return stamp(self._file)

    def links(self) -> frozenset[str]:
        """The submodules, relative to the top."""
        self._forget()
        if self._links is None:
            self._links = self._listed_links() if self._may_have_links() else frozenset()
        return self._links

    def hidden(self) -> frozenset[str]:
        """The files whose changes git is told not to look at (assume-unchanged, skip-worktree), relative to the top."""
        self._forget()
        if self._hidden is None:
            told = b"\0" + self._git.run("ls-files", "-v", "-z")  # "TAG PATH" each; of thousands none is looked into where all are plain
            lines = [] if told.count(_PLAIN) == told.count(b"\0") - 1 else os.fsdecode(told).split("\0")
            self._hidden = frozenset(line[2:] for line in lines if line[:1] in ("h", "s", "S"))
        return self._hidden

    def _forget(self) -> None:
        now = self.state()
        if now is None or now != self._read:
            self._read, self._links, self._hidden = now, None, None

    def _may_have_links(self) -> bool:
        """Whether git has to be asked: it takes longer to tell of 50,000 files than to look whether there is anything to tell."""
        before = b""
        try:
            with self._file.open("rb", buffering=0) as file:
                while portion := file.read(_PORTION):
                    here = before + portion
                    if any(telling in here for telling in _TELLING):
                        return True
                    before = here[1 - _LONGEST :]
        except OSError:
            return True
        return False

    def _listed_links(self) -> frozenset[str]:
        """Git tells of each file in "MODE ID STAGE<tab>PATH"."""
        lines = os.fsdecode(self._git.run("ls-files", "--stage", "-z")).split("\0")
        return frozenset(line.partition("\t")[2] for line in lines if line.startswith(f"{_LINK} "))
