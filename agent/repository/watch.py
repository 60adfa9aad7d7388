"""Whether a branch has moved on, asked cheaply: by the state of the few files that git writes then, and of git only when one has changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agent.repository.repo import Repo
from agent.repository.stamp import stamp

_Stamp = tuple[tuple[int, int, int] | None, ...]


class Watch:
    """Notices when HEAD is another commit than `commit`."""

    def __init__(self, repo: Repo, commit: str | None) -> None:
        self._repo = repo
        self._commit = commit
        self._stamp: _Stamp | None = None

    def moved(self) -> bool:
        """Whether HEAD isn't `commit` any more, by whatever: a commit, a pull, a reset, another branch."""
        now = tuple(map(stamp, self._places()))
        if now == self._stamp:
            return False
        self._stamp = now
        return self._repo.head() != self._commit

    def _places(self) -> Iterator[Path]:
        """The files that git replaces when HEAD or its branch moves, packed or not, in either format for refs (gitrepository-layout(5))."""
        head = self._repo.git_dir / "HEAD"
        shared = self._repo.common_dir
        yield head
        yield shared / "packed-refs"
        yield self._repo.git_dir / "reftable" / "tables.list"
        yield shared / "reftable" / "tables.list"
        yield shared / _branch(head)


def _branch(head: Path) -> str:
    try:
        return head.read_text("utf-8", "surrogateescape").removeprefix("ref: ").strip()
    except OSError:
        return "HEAD"
