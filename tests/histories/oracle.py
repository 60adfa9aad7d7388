"""What a history means, by sets of paths alone: it knows git's three-way merge and the names of files, and no code of agentctl."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

Files = frozenset[str]
"""Paths inside `.agent/`."""

_MEANING = {"done": "done", "failed": "open", "blocked": "blocked", "reopened": "open", "dropped": "dropped"}


@dataclass(frozen=True)
class Point:
    """A commit: what it holds, and the notes whose trailers its message carries."""

    parents: tuple[str, ...]
    files: Files
    told: Files


@dataclass
class Oracle:
    """All commits so far, by id."""

    points: dict[str, Point] = field(default_factory=dict)
    _above: dict[str, frozenset[str]] = field(default_factory=dict)

    def add(self, commit: str, parents: Iterable[str], files: Files, told: Files = frozenset()) -> None:
        self.points[commit] = Point(tuple(parents), files, told)
        self._above[commit] = frozenset((commit,)).union(*(self._above[parent] for parent in self.points[commit].parents))

    def above(self, commit: str) -> frozenset[str]:
        """`commit` and its ancestors."""
        return self._above[commit]

    def files(self, commit: str) -> Files:
        return self.points[commit].files

    def delta(self, commit: str) -> tuple[Files, Files]:
        """What `commit` added and took away, against its first parent."""
        point = self.points[commit]
        before = self.files(point.parents[0]) if point.parents else frozenset()
        return point.files - before, before - point.files

    def picked(self, files: Files, commit: str) -> Files:
        """`files` with what `commit` did."""
        added, taken = self.delta(commit)
        return (files | added) - taken

    def reverted(self, files: Files, commit: str) -> Files:
        """`files` without what `commit` did."""
        added, taken = self.delta(commit)
        return (files - added) | taken

    def merged(self, one: str, two: str) -> Files:
        """What a merge of two commits holds: with several bases, these are merged first, as git does."""
        return self._three_way(self.files(one), self.files(two), self._base(one, two))

    def _base(self, one: str, two: str) -> Files:
        common = self._above[one] & self._above[two]
        best = sorted(base for base in common if not any(base in self._above[other] for other in common if other != base))
        if not best:
            return frozenset()
        files = self.files(best[0])
        for first, other in pairwise(best):
            files = self._three_way(files, self.files(other), self._base(first, other))
        return files

    @staticmethod
    def _three_way(ours: Files, theirs: Files, base: Files) -> Files:
        return (ours & theirs) | (ours - base) | (theirs - base)

    def ever(self, commit: str) -> Files:
        """The notes that were there at `commit` or before, or of which a message tells."""
        points = [self.points[one] for one in self._above[commit]]
        return frozenset(path for point in points for path in point.files | point.told if path.startswith("notes/"))

    def takers(self, commit: str, note: str) -> set[str]:
        """The commits up to `commit`, merges left out, that took `note` away."""
        return {one for one in self._above[commit] if len(self.points[one].parents) == 1 and note in self.delta(one)[1]}

    def states(self, commit: str) -> dict[str, str]:
        """Each item's state: what the last of its notes that are there says."""
        found = {path.removeprefix("todo/").removesuffix(".md"): "open" for path in self.files(commit) if path.startswith("todo/")}
        for note in sorted(path for path in self.files(commit) if path.startswith("notes/")):
            item, outcome = named(note)
            if outcome in _MEANING and item in found:
                found[item] = _MEANING[outcome]
        return found

    def attempts(self, commit: str, item: str) -> int:
        """How often a session was at `item`, undone ones too."""
        return sum(1 for note in self.ever(commit) if named(note)[0] == item and named(note)[1] in ("done", "failed", "blocked"))


def named(note: str) -> tuple[str, str]:
    """Item and outcome by a note's path: `notes/DAY/HHMMSS-ITEM.OUTCOME.md`."""
    item, outcome, _ = note.rpartition("/")[2].rsplit(".", 2)
    return item.partition("-")[2], outcome


def step_of(note: str) -> str:
    """A step's id by its note's path."""
    _, day, name = note.split("/")
    return f"{day}-{name.rsplit('.', 2)[0]}"
