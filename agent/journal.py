"""What is in flight, so that a crash can be picked up: one small file, written whole at every change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from msgspec import convert, field, to_builtins
from msgspec.structs import replace

from agent.domain.progress import UNBEGUN, Progress
from agent.domain.shape import Count, Stored, parsed
from agent.domain.usage import Usage
from agent.durable import read_own, sync_folder, write_whole
from agent.errors import AgentctlError


class Landing(Stored, frozen=True):
    """A commit on top of `ground` that is about to be made.

    It is of `tree` (None: of the ground's own, once the step's work is put back), with agentctl's own `files` (path inside `.agent/`, text).
    """

    ground: str
    tree: str | None
    files: tuple[tuple[str, str], ...]
    message: str


class Entry(Stored, frozen=True):
    """A step under way. Paths are relative to the repository's top.

    `branch` is where the step began; `untracked` (ignored ones too, folders ending in `/`) are not the step's, nor are
    changes of the tracked files in `theirs`; `doing` says which tool is at work ("": none), and
    `head` and `staged` where HEAD was and what was staged when it began. `originals` says for each path that a tool wrote what it
    held before: a blob's id and its mode bits, or None where nothing was there. `made` appeared while commands ran. `progress` is what the
    session has done so far; of it `carried` (usage, by step) and `carried_calls` are of sessions that it went on from.
    """

    step: str
    item: str
    base: str
    untracked: tuple[str, ...] = ()
    originals: Mapping[str, tuple[str, Count] | None] = field(default_factory=dict)
    made: tuple[str, ...] = ()
    landing: Landing | None = None
    branch: str | None = None
    theirs: tuple[str, ...] = ()
    doing: str = ""
    head: str | None = None
    staged: tuple[str, ...] = ()
    progress: Progress = UNBEGUN
    carried: Mapping[str, Usage] = field(default_factory=dict)
    carried_calls: Count = 0


class Journal:
    """The journal of one work tree, kept in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "journal.json"

    def read(self) -> Entry | None:
        """The step that was under way, or None. Raises AgentctlError where the file is broken."""
        try:
            return convert(parsed(read_own(self._path)), Entry)
        except FileNotFoundError:
            return None
        except ValueError:
            raise AgentctlError(f"{self._path} can't be read", f"look at git status, then: rm {self._path}") from None

    def written(self) -> float:
        """When an entry was written last, in seconds since 1970; 0 where there is none."""
        try:
            return self._path.stat().st_mtime
        except OSError:
            return 0.0

    def write(self, entry: Entry) -> None:
        """Note `entry` as what is under way; on disk when this returns."""
        write_whole(self._path, json.dumps(to_builtins(entry)).encode())

    def clear(self) -> None:
        """Nothing is under way any more."""
        self._path.unlink(missing_ok=True)
        if self._path.parent.is_dir():
            sync_folder(self._path.parent)


def with_original(entry: Entry, path: str, kept: tuple[str, int] | None) -> Entry:
    """`entry` with what `path` held before a tool wrote it; the first answer stays."""
    return entry if path in entry.originals else replace(entry, originals={**entry.originals, path: kept})
