"""What a finding is, and what finders look at: read once, however broken."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Literal

from msgspec import Struct

from agent.domain.config import Config, parse_config
from agent.domain.frontmatter import BadFileError
from agent.domain.memory import Record
from agent.domain.names import NoteName
from agent.domain.todo import Item, Standing, parse_item, standings
from agent.repository.history import read_history
from agent.repository.repo import FOLDER, Entry, Repo
from agent.repository.status import Status

Level = Literal["error", "warning", "info"]


class Finding(Struct, frozen=True):
    """One thing that is worth a person's look: a sentence, and what to type.

    An error stops a step. `fix` mends it safely (nothing is lost, nothing of the person's is changed) and gives a sentence; it may raise AgentctlError.
    """

    level: Level
    text: str
    mend: str = ""
    fix: Callable[[], str] | None = None


class Look:
    """The repository as finders see it. Paths are relative to `repo.root` and begin with `.agent/`. Nothing here raises for what `.agent/` holds."""

    def __init__(self, repo: Repo, environment: Mapping[str, str]) -> None:
        self.repo = repo
        self.environment = environment

    @cached_property
    def status(self) -> Status:
        """HEAD, index and work tree."""
        return self.repo.status()

    @cached_property
    def committed(self) -> dict[str, Entry]:
        """The files of `.agent/` at HEAD."""
        head = self.status.head
        return {entry.path: entry for entry in self.repo.tree(head)} if head else {}

    @cached_property
    def contents(self) -> dict[str, bytes]:
        """What those files hold."""
        paths = list(self.committed)
        blobs = self.repo.blobs([self.committed[path].id for path in paths])
        return {path: data or b"" for path, data in zip(paths, blobs, strict=True)}

    @cached_property
    def on_disk(self) -> dict[str, Path]:
        """The files and links in the work tree's `.agent/`; none where that is a link itself."""
        found: dict[str, Path] = {}
        if not self.repo.work.is_folder(self.repo.prefix + FOLDER):
            return found
        for folder, names, files in os.walk(self.repo.root / FOLDER):
            links = [name for name in names if Path(folder, name).is_symlink()]
            for name in [*files, *links]:
                path = Path(folder, name)
                found[path.relative_to(self.repo.root).as_posix()] = path
        return dict(sorted(found.items()))

    def copy(self, path: str) -> bytes:
        """What the work tree's file at `path` holds; "" where it can't be read as one."""
        try:
            return self.repo.work.read(self.repo.prefix + path)
        except OSError:
            return b""

    @cached_property
    def differing(self) -> tuple[str, ...]:
        """Tracked files of `.agent/` that aren't what HEAD says, staged ones too."""
        start = f"{self.repo.prefix}{FOLDER}/"
        status = self.status
        paths = {*status.staged, *status.modified, *status.unmerged}
        return tuple(sorted(path.removeprefix(self.repo.prefix) for path in paths if path.startswith(start)))

    @cached_property
    def untracked(self) -> tuple[str, ...]:
        """Files of `.agent/` that git neither tracks nor ignores."""
        out = self.repo.git.run("ls-files", "-z", "--others", "--exclude-standard", "--", f"{self.repo.prefix}{FOLDER}")
        return tuple(path.removeprefix(self.repo.prefix) for path in os.fsdecode(out).split("\0") if path)

    @cached_property
    def config(self) -> Config | None:
        """The settings at HEAD, None where they can't be read."""
        try:
            return parse_config(self.text(f"{FOLDER}/config.yaml"))
        except BadFileError:
            return None

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The items at HEAD; of one that can't be read just the id."""
        paths = [path for path in self.committed if path.startswith(f"{FOLDER}/todo/") and path.endswith(".md") and path.count("/") == 2]  # noqa: PLR2004 - no deeper
        return tuple(self._item(path) for path in paths)

    def _item(self, path: str) -> Item:
        try:
            return parse_item(self.text(path), path)
        except BadFileError:
            identity = path.rpartition("/")[2].removesuffix(".md")
            return Item(identity, identity)

    def text(self, path: str) -> str:
        """What the file at `path` holds at HEAD, "" where it isn't there."""
        return self.contents.get(path, b"").decode("utf-8", "replace")

    @cached_property
    def notes(self) -> tuple[NoteName, ...]:
        """The notes at HEAD, by time."""
        return tuple(sorted(name for path in self.committed if (name := NoteName.parse(path.removeprefix(f"{FOLDER}/")))))

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """Every step that history knows, by time."""
        head = self.status.head
        return read_history(self.repo, head, self.notes).records if head else ()

    @cached_property
    def standings(self) -> dict[str, Standing]:
        """Where items stand."""
        return standings(self.notes)


Finder = Callable[[Look], Iterable[Finding]]


def listed(names: Iterable[str], most: int = 5) -> str:
    """The first `most` of `names`, and how many more there are."""
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more
