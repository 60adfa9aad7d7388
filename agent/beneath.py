"""Files beneath a folder, reached part by part through handles: whatever is swapped for a link meanwhile, nothing outside is touched.

No link is followed, and no part may be `..`: whoever allows links finds out first where a path leads, and comes here with that.
Each part is opened from the handle of the one before, so it makes no difference what the names above mean by then.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from agent.durable import TEMPORARY

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
PASSING = getattr(os, "O_PATH", os.O_RDONLY)
"""How a folder above is opened; where the system has no O_PATH, it must be readable."""

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_KEPT_BITS = 0o1777  # of a mode: who wrote a program anew must not thereby make it run as another user

_Enter = Callable[[int, str], int]


class NotRegularError(OSError):
    """What is there is a device, a socket, a FIFO or a link, not a file."""


class Beneath(Struct, frozen=True):
    """What lies beneath `top`, whose own place nobody else may change; all paths are relative to `under` in it ("" or "apps/web/").

    Every method raises OSError where a path leads through a link or through what is no folder, or isn't there.
    """

    top: Path
    under: str = ""

    def below(self, folder: str) -> Beneath:
        """The same for a folder in this one ("" or "apps/web/")."""
        return replace(self, under=self.under + folder)

    @property
    def folder(self) -> Path:
        """Where it is, by name."""
        return self.top / self.under

    # --- looking ---------------------------------------------------------------------------------------------------

    def look(self, path: str) -> os.stat_result | None:
        """What `path` itself is ("" is the folder), a link as a link; None where nothing is there that can be looked at."""
        try:
            with self._at(path) as (folder, name):
                return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            return None

    def is_folder(self, path: str) -> bool:
        """Whether there is a folder at `path`."""
        told = self.look(path)
        return told is not None and stat.S_ISDIR(told.st_mode)

    def is_file(self, path: str) -> bool:
        """Whether there is a regular file at `path`."""
        told = self.look(path)
        return told is not None and stat.S_ISREG(told.st_mode)

    def through_link(self, path: str) -> bool:
        """Whether a folder above `path` is a link."""
        above = (path[:end] for end, sign in enumerate(path) if sign == "/")
        return any(told is not None and stat.S_ISLNK(told.st_mode) for told in map(self.look, above))

    def names(self, path: str) -> list[str]:
        """What lies in the folder `path`."""
        with self._at(path) as (above, name):
            folder = os.open(name, os.O_RDONLY | _FOLDER, dir_fd=above)
        try:
            return os.listdir(folder)  # noqa: PTH208 - of a handle
        finally:
            os.close(folder)

    @contextlib.contextmanager
    def reading(self, path: str) -> Iterator[BinaryIO]:
        """The regular file at `path`, open. Never waits: raises NotRegularError for a FIFO and its kind."""
        with self._at(path) as (folder, name):
            handle = _open_regular(folder, name)
        with open(handle, "rb") as file:  # noqa: PTH123 - a handle
            yield file

    def read(self, path: str) -> bytes:
        """All bytes of the regular file at `path`."""
        with self.reading(path) as file:
            return file.read()

    def link(self, path: str) -> str:
        """Where the link at `path` points to."""
        with self._at(path) as (folder, name):
            return os.readlink(name, dir_fd=folder)

    # --- changing --------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def replacing(self, path: str, mode: int | None = None) -> Iterator[BinaryIO]:
        """A new file that takes the place of `path`, with the folders above it, once this ends well; else all is as it was.

        `mode` are its permission bits; None: those of the file that is there, else as a new one gets them. A link is replaced, not written through.
        """
        with self._new(path, _make) as (folder, beside, name), _made(folder, beside) as file:
            yield file
            bits = _mode(folder, name) if mode is None else mode
            if mode is not None or stat.S_ISREG(bits):
                os.fchmod(file.fileno(), bits & _KEPT_BITS)

    def write(self, path: str, data: bytes, mode: int | None = None) -> None:
        """Let `path` hold `data`: whoever comes after a power cut finds the old bytes or the new ones, never a part. As `replacing`."""
        with self.replacing(path, mode) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def settle(self, path: str) -> None:
        """Return when the folder of `path` is on disk as it is: a file that was replaced there stays replaced after a power cut."""
        with self._at(path) as (folder, _):
            handle = os.open(".", os.O_RDONLY | _FOLDER, dir_fd=folder)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def put(self, path: str, source: Path) -> None:
        """Let `path` be a copy of the file or link `source`, whose place is ours alone, in the stead of whatever is there or in its way."""
        with self._new(path, _clear) as (folder, beside, name):
            _copy(source, folder, beside)
            if stat.S_ISDIR(_mode(folder, name)):
                shutil.rmtree(name, dir_fd=folder)

    def remove(self, path: str) -> None:
        """Take the file or link at `path` away, and the folders above it that are empty then; nothing where it isn't there, or is a folder."""
        with contextlib.suppress(FileNotFoundError, NotADirectoryError), self._at(path) as (folder, name):
            if stat.S_ISDIR(_mode(folder, name)):
                return
            os.unlink(name, dir_fd=folder)
        self._remove_empty(path.rpartition("/")[0])

    def _remove_empty(self, path: str) -> None:
        while path:
            try:
                with self._at(path) as (folder, name):
                    os.rmdir(name, dir_fd=folder)
            except FileNotFoundError:
                pass
            except OSError:
                return
            path = path.rpartition("/")[0]

    # --- handles ---------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _new(self, path: str, enter: _Enter) -> Iterator[tuple[int, str, str]]:
        """A handle of the folder of `path`, a new name in it for what takes the place of `path` once this ends well, and its own."""
        with self._at(path, enter) as (folder, name):
            beside = f".{secrets.token_hex(8)}.{os.getpid()}{TEMPORARY}"
            try:
                yield folder, beside, name
                os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(beside, dir_fd=folder)
                raise

    @contextlib.contextmanager
    def _at(self, path: str, enter: _Enter | None = None) -> Iterator[tuple[int, str]]:
        """A handle of the folder of `path`, and the name in it."""
        *folders, name = [*_parts(self.under), *_parts(path)] or ["."]
        handle = os.open(self.top, os.O_DIRECTORY | os.O_CLOEXEC | PASSING)
        try:
            for part in folders:
                inner = (enter or _enter)(handle, part)
                handle, outer = inner, handle
                os.close(outer)
            yield handle, name
        finally:
            os.close(handle)


def _parts(path: str) -> list[str]:
    parts = path.removesuffix("/").split("/") if path else []
    if "\0" in path or not {"", ".", ".."}.isdisjoint(parts):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
    return parts


def _enter(folder: int, name: str) -> int:
    try:
        return os.open(name, _FOLDER | PASSING, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:  # how some systems say of a link that it is no folder
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name) from error
        raise


def _make(folder: int, name: str) -> int:
    try:
        return _enter(folder, name)
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
        return _enter(folder, name)


def _clear(folder: int, name: str) -> int:
    """As `_make`, but a file or link in the way goes."""
    try:
        return _make(folder, name)
    except NotADirectoryError:
        os.unlink(name, dir_fd=folder)
        return _make(folder, name)


def _mode(folder: int, name: str) -> int:
    """Kind and permission bits; 0 where nothing is there."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return 0


def _made(folder: int, name: str) -> BinaryIO:
    return open(os.open(name, _NEW, 0o666, dir_fd=folder), "wb")  # noqa: PTH123 - a handle


def _copy(source: Path, folder: int, name: str) -> None:
    mode = source.lstat().st_mode
    if stat.S_ISLNK(mode):
        os.symlink(source.readlink(), name, dir_fd=folder)
        return
    with source.open("rb") as old, _made(folder, name) as new:
        shutil.copyfileobj(old, new)
        os.fchmod(new.fileno(), mode & _KEPT_BITS)


def _open_regular(folder: int, name: str) -> int:
    try:
        handle = os.open(name, _READ, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link; a socket
            raise NotRegularError(error.errno, "Not a regular file", name) from error
        raise
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return handle
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    raise NotRegularError(errno.EINVAL, "Not a regular file", name)
