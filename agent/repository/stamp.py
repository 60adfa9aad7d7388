"""Whether a file is still the one that was read: by what differs when it is replaced or written."""

from __future__ import annotations

import os
from pathlib import Path


def stamp(path: Path) -> tuple[int, int, int] | None:
    """The file's number, its time of change in ns and its size; None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - of every path the same
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
