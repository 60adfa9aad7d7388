"""Folders of this machine's for what commands may leave behind: a home and a place for temporary files, gone with the process that made them."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_NAME = "agentctl-scratch-"
_YOUNG = 60.0  # seconds; one that is being made has no lock yet


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for `Shell.kept`, gone afterwards with all that was left in it."""
    with passing_folder(Path(tempfile.gettempdir())) as folder:
        for name in ("home", "tmp"):
            (folder / name).mkdir()
        yield folder


@contextmanager
def passing_folder(place: Path) -> Iterator[Path]:
    """An empty folder in `place`, gone afterwards; so are those there of processes that were killed."""
    _clear_abandoned(place)
    folder = Path(tempfile.mkdtemp(prefix=_NAME, dir=place)).resolve()
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield folder
    finally:
        _remove(folder)
        os.close(held)


def _clear_abandoned(place: Path) -> None:
    """Remove the folders of this user whose processes were killed: the kernel has dropped the lock that they held."""
    for folder in place.glob(f"{_NAME}*"):
        with suppress(OSError):
            told = folder.lstat()
            if not stat.S_ISDIR(told.st_mode) or told.st_uid != os.getuid() or time.time() - told.st_mtime < _YOUNG:
                continue
            held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(folder)
            finally:
                os.close(held)


def _remove(folder: Path) -> None:
    """Remove a folder whatever modes those in it have; what can't be removed stays in the machine's own temporary folder."""

    def open_up(_call: object, path: str, _error: object) -> None:
        with suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)  # noqa: PTH101, PTH120 - rmtree gives strings
            shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)  # noqa: PTH108, PTH112, PTH114

    shutil.rmtree(folder, onerror=open_up)
