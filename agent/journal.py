"""What is in flight, so that a crash can be picked up: one small file, written whole at every change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from agent.durable import sync_folder, write_whole
from agent.errors import AgentctlError


@dataclass(frozen=True)
class Entry:
    """A step under way. Paths are relative to the repository's top.

    `branch` is where the step began; `untracked` (ignored ones too, folders ending in `/`) are not the step's, nor are
    changes of the tracked files in `theirs`; `running` says whether a tool is at work, and
    `head` and `staged` where HEAD was and what was staged when it began. `originals` says for each path that a tool wrote what it
    held before: a blob's id and its mode bits, or None where nothing was there. `made` appeared while commands ran. `landing` are agentctl's own
    files of a commit that was about to be made.
    """

    step: str
    item: str
    base: str
    untracked: tuple[str, ...] = ()
    originals: Mapping[str, tuple[str, int] | None] = field(default_factory=dict)
    made: tuple[str, ...] = ()
    landing: tuple[str, ...] = ()
    branch: str | None = None
    theirs: tuple[str, ...] = ()
    running: bool = False
    head: str | None = None
    staged: tuple[str, ...] = ()


class Journal:
    """The journal of one work tree, kept in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "journal.json"

    def read(self) -> Entry | None:
        """The step that was under way, or None. Raises AgentctlError where the file is broken."""
        try:
            stored = json.loads(self._path.read_text("utf-8"))
            originals = {path: tuple(kept) if kept else None for path, kept in stored["originals"].items()}
            lists = {name: tuple(stored[name]) for name in ("untracked", "made", "landing", "theirs", "staged")}
            return Entry(
                stored["step"],
                stored["item"],
                stored["base"],
                originals=originals,
                branch=stored["branch"],
                running=stored["running"],
                head=stored["head"],
                **lists,
            )
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise AgentctlError(f"{self._path} can't be read", f"look at git status, then: rm {self._path}") from None

    def write(self, entry: Entry) -> None:
        """Note `entry` as what is under way; on disk when this returns."""
        write_whole(self._path, json.dumps(asdict(entry)).encode())

    def clear(self) -> None:
        """Nothing is under way any more."""
        self._path.unlink(missing_ok=True)
        if self._path.parent.is_dir():
            sync_folder(self._path.parent)


def with_original(entry: Entry, path: str, kept: tuple[str, int] | None) -> Entry:
    """`entry` with what `path` held before a tool wrote it; the first answer stays."""
    return entry if path in entry.originals else replace(entry, originals={**entry.originals, path: kept})
