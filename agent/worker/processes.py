"""The processes that a command started, found again even where they left its group."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

_PROC = Path("/proc")
_POLL = 0.05  # seconds


class _Process(Struct, frozen=True):
    pid: int
    parent: int
    group: int
    session: int


def signal_family(leader: int, mark: str, number: int, spared: int = 0) -> bool:
    """Send signal `number` (0 only asks) to all that `leader` started, but `spared`. True where there was somebody.

    On Linux that is its group, its session, whoever carries `mark` ("NAME=value") in its environment, and their descendants; elsewhere its group.
    """
    if sys.platform != "linux":
        return _signal_group(leader, number)
    family = _family(leader, mark)
    for pid in family - {spared}:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
    return bool(family)


def end_marked(mark: str, patience: float) -> None:
    """End whoever carries `mark` ("NAME=value") in its environment, and their descendants: TERM first, KILL after `patience` seconds. Linux only."""
    if sys.platform != "linux":
        return
    began = time.monotonic()
    while (family := _marked(mark)) and (waited := time.monotonic() - began) < 2 * patience:
        for pid in family:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGTERM if waited < patience else signal.SIGKILL)
        time.sleep(_POLL)


def _marked(mark: str) -> set[int]:
    processes = list(_processes())
    return _with_descendants({one.pid for one in processes if _carries(one.pid, mark)}, processes) - {os.getpid()}


def _signal_group(leader: int, number: int) -> bool:
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _family(leader: int, mark: str) -> set[int]:
    processes = list(_processes())
    return _with_descendants({one.pid for one in processes if leader in (one.group, one.session) or _carries(one.pid, mark)}, processes)


def _with_descendants(family: set[int], processes: Sequence[_Process]) -> set[int]:
    while more := {one.pid for one in processes if one.parent in family} - family:
        family |= more
    return family


def _processes() -> Iterator[_Process]:
    """All that run, without zombies: those have ended and wait for their parent only."""
    for entry in os.listdir(_PROC):  # noqa: PTH208 - names are enough, and cheaper
        if not entry.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            # proc(5): pid (name) state ppid pgrp session …; the name may hold blanks and brackets
            fields = (_PROC / entry / "stat").read_bytes().rpartition(b")")[2].split()
            if fields[0] not in (b"Z", b"X"):
                yield _Process(int(entry), int(fields[1]), int(fields[2]), int(fields[3]))


def _carries(pid: int, mark: str) -> bool:
    try:
        return mark.encode() in (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
