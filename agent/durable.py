"""Files of our own, written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

TEMPORARY = ".agentctl-tmp"
_IN_PLACE = {
    errno.ELOOP: "a link is in the place of a file of agentctl's",
    errno.EISDIR: "a directory is in the place of a file of agentctl's",
    errno.ENXIO: "a FIFO, socket or device is in the place of a file of agentctl's",
}
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_ROOM = 200  # bytes of a name; file systems give 255


def opened(path: Path, flags: int, mode: int = 0o644) -> int:
    """A handle of our own file at `path`. Raises OSError where a link, folder, FIFO, socket or device is in its place: none is followed or waited for."""
    try:
        handle = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, mode)
    except OSError as error:
        said = _IN_PLACE.get(error.errno or 0)
        raise OSError(error.errno, said, str(path)) if said else error from None
    kind = os.fstat(handle).st_mode
    if stat.S_ISREG(kind):
        return handle
    os.close(handle)
    raise OSError(errno.EISDIR if stat.S_ISDIR(kind) else errno.ENXIO, _IN_PLACE[errno.EISDIR if stat.S_ISDIR(kind) else errno.ENXIO], str(path))


def read_own(path: Path, start: int = 0) -> bytes:
    """What our own file at `path` holds from its byte `start` on. Raises OSError as `opened`."""
    with os.fdopen(opened(path, os.O_RDONLY), "rb") as file:
        file.seek(start)
        return file.read()


def _fresh(temporary: Path) -> BinaryIO:
    """A file that wasn't there, in a folder that may not be there either."""
    try:
        handle = opened(temporary, _NEW)
    except FileNotFoundError:
        temporary.parent.mkdir(parents=True, exist_ok=True)
        handle = opened(temporary, _NEW)
    except FileExistsError:  # of a process with the same number that was killed
        temporary.unlink(missing_ok=True)
        handle = opened(temporary, _NEW)
    return os.fdopen(handle, "wb")


def write_whole(path: Path, data: bytes) -> None:
    """Replace `path` by `data`: a reader, or whoever comes after a power cut, sees the old bytes or the new ones, never a part."""
    with _in_place_of(path) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    sync_folder(path.parent)


def write_hint(path: Path, data: bytes) -> None:
    """Replace `path` by `data`: a reader sees the old bytes or the new ones. Not synced, so for what may be gone or torn after a power cut."""
    with _in_place_of(path) as file:
        file.write(data)


@contextlib.contextmanager
def _in_place_of(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` once it is written."""
    temporary = path.with_name(f".{path.name[:_ROOM]}.{os.getpid()}{TEMPORARY}")
    try:
        with _fresh(temporary) as file:
            yield file
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold the lock file `path`, waiting for whoever has it. The kernel frees it when its holder dies; the file is never removed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = opened(path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def abandoned(temporary: Path) -> bool:
    """Whether a temporary file of `write_whole` or `write_hint` was left by a process that is gone."""
    pid = temporary.name.removesuffix(TEMPORARY).rpartition(".")[2]
    if not temporary.name.endswith(TEMPORARY) or not re.fullmatch("[0-9]{1,9}", pid):
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return int(pid) == os.getpid()  # a process of before had the same number: this one isn't writing now


def append_line(path: Path, line: str) -> None:
    """Add one line to `path` and return when it is on disk. A torn last line of an earlier crash is closed off first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(opened(path, os.O_RDWR | os.O_APPEND | os.O_CREAT), "a+b") as file:
        end = file.tell()
        if end > 0:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(line.encode("utf-8") + b"\n")
        file.flush()
        os.fsync(file.fileno())
    if end == 0:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
