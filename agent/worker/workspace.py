"""The files that a step may see and change: below one folder, out of git's own and of `.agent/`."""

from __future__ import annotations

import difflib
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from agent.beneath import Beneath
from agent.domain.text import plain
from agent.worker import files
from agent.worker.files import Refusal

_AGENT = ".agent"
# https://learn.microsoft.com/windows/win32/fileio/naming-a-file
_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])[ .]*(?:\..*)?", re.IGNORECASE | re.DOTALL)
_FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f]')
_ENOUGH = 5000
_LONGEST_NAME = 255


class Found(Protocol):
    """A line that a search found."""

    @property
    def path(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def text(self) -> str: ...


class Tree(Protocol):
    """What a workspace asks of a repository; paths are relative to the workspace's root."""

    def files(self, under: str = "") -> list[str]: ...
    def ignored(self, paths: Sequence[str]) -> Mapping[str, str]: ...
    def gitlinks(self) -> frozenset[str]: ...
    def lately(self, commits: int) -> list[str]: ...
    def is_hidden(self, path: str) -> bool: ...
    def grep(self, pattern: str, path: str = "", glob: str = "", limit: int = 200) -> Sequence[Found]: ...


class Place(Struct, frozen=True):
    """Where a path leads after all links: `path` is relative to the root ("" is the root itself), and is reached without following any."""

    path: str


class Workspace:
    """The folder that a step works in. `keep(path)` is called before the first write to a path, so that its old bytes can be kept."""

    def __init__(self, root: Beneath, repo: Tree, keep: Callable[[str], None]) -> None:
        self.root = root
        self._real = root.folder.resolve()
        self.repo = repo
        self._keep = keep
        self._kept: set[str] = set()

    # --- where a path leads: the only door ------------------------------------------------------------------------

    def readable(self, path: str) -> Place:
        """Where `path` leads. Raises Refusal for what lies outside the root or inside `.git`, and for devices, sockets and FIFOs."""
        place = self._resolve(path)
        told = self.root.look(place.path)
        if told is not None and not (stat.S_ISREG(told.st_mode) or stat.S_ISDIR(told.st_mode)):
            raise Refusal(f"{_name(path)} is neither a file nor a folder (a device, socket, FIFO or a link in a circle).")
        return place

    def writable(self, path: str) -> Place:
        """Where a file at `path` would be written. Raises Refusal also for what a step can't commit or others couldn't check out."""
        place = self.readable(path)
        if not place.path or path.endswith("/") or self.root.is_folder(place.path):
            raise Refusal(f"{_name(path)} is a folder, not a file.", "Name a file in it.")
        parts = place.path.split("/")
        if any(part.casefold() == _AGENT for part in parts):
            raise Refusal(f"{_name(path)} lies in .agent/, which only agentctl writes.", "Use remember, propose, ask and finish.")
        self._refuse_foreign(path, place)
        self._refuse_new_name(place)
        if self.repo.is_hidden(place.path):
            raise Refusal(f"{_name(path)} is hidden from git (assume-unchanged or skip-worktree), so a step can neither commit nor put it back.")
        if rule := self.repo.ignored([place.path]).get(place.path):
            raise Refusal(f"{_name(path)} is ignored by git ({plain(rule)}), so a step can't commit it.")
        return place

    def _resolve(self, path: str) -> Place:
        if not path or "\0" in path:
            raise Refusal("The path is empty." if not path else "The path holds a NUL character.")
        try:
            os.fsencode(path)
        except UnicodeEncodeError as error:
            raise Refusal(f"{_name(path)} can't be a file's name: it holds half a character.") from error
        real = Path(os.path.realpath(self._real / self._spelled(path)))
        if not real.is_relative_to(self._real):
            raise Refusal(f"{_name(path)} leads outside the workspace.", "Paths are relative to its root; links may not lead out of it.")
        relative = real.relative_to(self._real).as_posix()
        if any(map(_is_git, (*path.split("/"), *relative.split("/")))):
            raise Refusal(f"{_name(path)} leads into .git, which is git's own.", "Use git commands that only read, through `run`.")
        return Place("" if relative == "." else relative)

    def _spelled(self, path: str) -> str:
        """The file that `path` is the visible spelling of, where its real name can't be written in JSON; else `path`."""
        if "\\u" not in path or os.path.lexists(self._real / path):
            return path
        return next((name for name in self.repo.files() if _name(name) == path), path)

    def _refuse_foreign(self, path: str, place: Place) -> None:
        above = [place.path[:end] for end in _slashes(place.path)]
        links = self.repo.gitlinks()
        for folder in (*above, place.path):
            if folder in links or (folder in above and self.root.look(f"{folder}/.git")):
                raise Refusal(f"{_name(path)} lies in {_name(folder)}, a submodule or a repository of its own: a step here can't commit it.")

    def _refuse_new_name(self, place: Place) -> None:
        for end in (*_slashes(place.path), len(place.path)):
            known = place.path[:end]
            if self.root.look(known):
                if end < len(place.path) and not self.root.is_folder(known):
                    raise Refusal(f"{_name(place.path)} can't be made: {_name(known)} is a file, not a folder.")
                continue
            above, _, name = known.rpartition("/")
            if reason := _unportable(name):
                raise Refusal(f"{_name(place.path)} can't be made: {reason}.", "Choose another name.")
            if twin := _twin(name, self.root, above):
                raise Refusal(f"{_name(place.path)} differs only in case from {_name(twin)}, which is there.", f"Use {_name(twin)}.")

    # --- bytes ----------------------------------------------------------------------------------------------------

    def load(self, place: Place) -> bytes:
        """The file's bytes. Raises Refusal where it is missing, a folder or unreadable."""
        try:
            return files.load(self.root, place.path)
        except FileNotFoundError as error:
            if self.repo.is_hidden(place.path):
                raise Refusal(
                    f"{_name(place.path)} isn't checked out here (a sparse checkout): it is in the commit alone.", "Leave it as it is."
                ) from error
            near = self.nearest(place.path)
            raise Refusal(f"{_name(place.path)} doesn't exist.", f"Near it: {', '.join(near)}" if near else "Use list or search.") from error
        except IsADirectoryError as error:
            raise Refusal(f"{_name(place.path or '.')} is a folder.", "Use list.") from error
        except OSError as error:
            raise Refusal(f"{_name(place.path)} can't be read: {error.strerror}.") from error

    def save(self, place: Place, data: bytes) -> None:
        """Write the file whole, after its old bytes were kept. Raises Refusal where that fails; the file is then as it was."""
        if place.path not in self._kept:
            self._keep(place.path)
            self._kept.add(place.path)
        try:
            files.save(self.root, place.path, data)
        except OSError as error:
            raise Refusal(f"{_name(place.path)} can't be written: {error.strerror}. It is as it was.") from error

    # --- names ----------------------------------------------------------------------------------------------------

    def nearest(self, path: str) -> list[str]:
        """Up to three files whose names are like `path`, the likeliest first, spelled visibly."""
        wanted = path.rpartition("/")[2].casefold()
        known = self.repo.files()
        same = [name for name in known if name.rpartition("/")[2].casefold() == wanted]
        if not same:
            by_name: dict[str, str] = {}
            for name in _likeliest(known, path):
                by_name.setdefault(name.rpartition("/")[2].casefold(), name)
            same = [by_name[name] for name in difflib.get_close_matches(wanted, by_name, n=3)]
        return [_name(name) for name in same[:3]]


def _likeliest(known: Sequence[str], path: str) -> Iterable[str]:
    """Names to compare with: those of the same folder first, never so many that comparing takes seconds."""
    folder = path.rpartition("/")[0] + "/" if "/" in path else ""
    return sorted(known, key=lambda name: not name.startswith(folder))[:_ENOUGH]


def _name(path: str) -> str:
    return plain(path).replace("\n", "\\u000a").replace("\t", "\\u0009")


def _slashes(path: str) -> list[int]:
    return [place for place, char in enumerate(path) if char == "/"]


def _is_git(name: str) -> bool:
    """`.git` in any spelling that some file system takes for it (git's own core.protectHFS and core.protectNTFS)."""
    seen = "".join(char for char in name if unicodedata.category(char) != "Cf").casefold()
    return seen.partition(":")[0].rstrip(" .") in (".git", "git~1")


def _unportable(name: str) -> str:
    if len(os.fsencode(name)) > _LONGEST_NAME:
        return f"its name is longer than {_LONGEST_NAME} bytes"
    if _RESERVED.fullmatch(name):
        return f"Windows reserves the name {_name(name)}"
    if name.endswith((".", " ")):
        return "its name ends in a dot or a blank, which Windows drops"
    if _FORBIDDEN.search(name) or plain(name) != name:
        return f"the name {_name(name)} holds a character that can't be in a file's name everywhere"
    return ""


def _twin(name: str, root: Beneath, folder: str) -> str:
    folded = unicodedata.normalize("NFC", name).casefold()
    try:
        return next((other for other in root.names(folder) if unicodedata.normalize("NFC", other).casefold() == folded), "")
    except OSError:
        return ""
