"""What a step changed, path by path, as git counts it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

Kind = Literal["added", "modified", "deleted"]

AddedLines = Mapping[str, Sequence[tuple[int, str]]]
"""For each path, the lines that the step added: number in the new file (from 1) and text without its line end."""

GITLINK = "160000"


class Change(Struct, frozen=True):
    """One changed path, relative to the repository's top, with `/`.

    The lines are None for a binary file (`git diff --numstat` prints `-`); `bytes` is the new file's size, 0 once it is
    deleted; `mode` is git's six octal digits of the new side (of the old one where it is deleted).
    """

    path: str
    kind: Kind
    added_lines: int | None
    deleted_lines: int | None
    bytes: int
    mode: str = "100644"

    @property
    def lines(self) -> int:
        """Added and deleted lines together; 0 for a binary file."""
        return (self.added_lines or 0) + (self.deleted_lines or 0)
