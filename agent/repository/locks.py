"""Lock files, and half-written objects, that a git process of ours left when it was killed: told from those of somebody who is at work."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

_PROC = Path("/proc")
_PATIENCE = 1.0  # seconds; a git that is just ending is quicker
_SLACK = 1.0  # seconds; file systems keep times coarsely


class Place(Struct, frozen=True):
    """Where a repository's git processes work: the top of the work tree, its git directory, and the one that all work trees share."""

    top: Path
    git_dir: Path
    common_dir: Path


def clear_left_locks(place: Place, since: float) -> list[Path]:
    """Remove git's lock and temporary files that nobody holds any more; gives them. For after a crash of ours, with agentctl's own lock held.

    Such a file is left over if it is no older than `since` (seconds since 1970: when ours was last seen alive), no process has it open, and no
    git process works in this repository: `git commit` with an editor open holds one without having it open. Only where /proc tells that.
    """
    if sys.platform != "linux":
        return []
    deadline = time.monotonic() + _PATIENCE
    while found := [file for file in (*_locks(place), *_halves(place.common_dir / "objects")) if _born(file) >= since - _SLACK]:
        if time.monotonic() > deadline:
            return [file for file in found if _nobodys(file, place) and _removed(file)]
        time.sleep(0.05)
    return []


def _locks(place: Place) -> Iterator[Path]:
    yield from place.git_dir.glob("*.lock")
    if place.common_dir != place.git_dir:
        yield from place.common_dir.glob("*.lock")
    yield from (place.common_dir / "refs").rglob("*.lock")
    for folder in ("", "info", "info/commit-graphs", "pack"):
        yield from (place.common_dir / "objects" / folder).glob("*.lock")


def _halves(objects: Path) -> Iterator[Path]:
    """Objects and packs that were being written (object-file.c, pack-write.c, builtin/repack.c), and packs without the index that comes after them."""
    yield from objects.glob("[0-9a-f][0-9a-f]/tmp_obj_*")
    yield from objects.glob("pack/tmp_*")
    yield from objects.glob("pack/.tmp-*")
    yield from (pack for pack in objects.glob("pack/*.pack") if not pack.with_suffix(".idx").exists())


def _born(lock: Path) -> float:
    try:
        return lock.stat().st_mtime
    except OSError:
        return 0.0


def _nobodys(lock: Path, place: Place) -> bool:
    try:
        known = lock.stat()
    except OSError:
        return False
    return not any(_has_open(process, (known.st_dev, known.st_ino)) or _is_git_in(process, place) for process in _processes())


def _processes() -> Iterator[Path]:
    return (entry for entry in _PROC.iterdir() if entry.name.isdigit())


def _has_open(process: Path, file: tuple[int, int]) -> bool:
    with contextlib.suppress(OSError):
        for handle in (process / "fd").iterdir():
            with contextlib.suppress(OSError):
                told = handle.stat()
                if (told.st_dev, told.st_ino) == file:
                    return True
    return False


def _is_git_in(process: Path, place: Place) -> bool:
    """Whether it is a git at work in this repository, or one of which that can't be told. One that only reads objects takes no lock."""
    try:
        if not (process / "comm").read_text("utf-8", "replace").startswith("git") or b"cat-file" in (process / "cmdline").read_bytes().split(b"\0"):
            return False
        where = Path(os.readlink(process / "cwd"))  # noqa: PTH115 - of a process that may end meanwhile
    except PermissionError:
        return True
    except OSError:
        return False
    return any(where.is_relative_to(folder.resolve()) for folder in (place.top, place.git_dir, place.common_dir))


def _removed(lock: Path) -> bool:
    try:
        lock.unlink()
    except OSError:
        return False
    return True
