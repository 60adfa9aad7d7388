"""Files of our own, written whole or not at all."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Iterator
from pathlib import Path

TEMPORARY = ".agentctl-tmp"
_ROOM = 200  # bytes of a name; file systems give 255


def write_whole(path: Path, data: bytes) -> None:
    """Replace `path` by `data`: a reader, or whoever comes after a power cut, sees the old bytes or the new ones, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name[:_ROOM]}.{os.getpid()}{TEMPORARY}")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def write_hint(path: Path, data: bytes) -> None:
    """Replace `path` by `data`: a reader sees the old bytes or the new ones. Not synced, so for what is worth nothing after a power cut."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_bytes(data)
    temporary.replace(path)


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold the lock file `path`, waiting for whoever has it. The kernel frees it when its holder dies; the file is never removed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def abandoned(temporary: Path) -> bool:
    """Whether a temporary file of `write_whole` was left by a process that is gone."""
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
    with path.open("a+b") as file:
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
