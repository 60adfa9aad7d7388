"""One agentctl at a time in a work tree: an advisory lock that the kernel frees when its holder dies."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from agent.durable import opened
from agent.errors import AgentctlError, Exit

_PATIENCE = 2.0  # seconds; a killed holder's lock lingers while a child of its was being started


MARK = "_AGENTCTL_HOLDER"
"""The variable by which whatever a holder of the lock starts is known: its value is also in the lock's file."""
_LET_GO = "let go"


class Predecessor(NamedTuple):
    """Whoever held the lock before: the mark of what it started ("": nobody is known), and since when it, or others before it, died holding it.

    `dead` is in seconds since 1970: when the first of them took the lock; 0.0 where the last one let go.
    """

    mark: str = ""
    dead: float = 0.0


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[Predecessor]:
    """Hold the lock in `folder`; gives whoever held it before. Raises AgentctlError (exit 75) that names the holder where somebody else has it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = opened(folder / "lock", os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise AgentctlError(
            f"agentctl can't write to {folder}: {error.strerror}", "make the folder writable, or work in a clone of your own"
        ) from None
    try:
        _take(handle)
        before = _before(handle)
        mark = secrets.token_hex(8)
        told = f"{os.getpid()}\n{mark}\n{before.dead or time.time()}\n".encode()
        os.ftruncate(handle, 0)
        os.pwrite(handle, told, 0)
        os.fsync(handle)  # so that a power cut is known, too
        os.environ[MARK] = mark
        try:
            yield before
        finally:
            os.pwrite(handle, f"{_LET_GO}\n".encode(), len(told))
    finally:
        os.close(handle)


def _before(handle: int) -> Predecessor:
    told = os.pread(handle, 200, 0).decode("ascii", "replace").split("\n")
    _, mark, since, let_go = [*told, "", "", "", ""][:4]
    try:
        return Predecessor(mark, 0.0 if let_go else float(since))
    except ValueError:  # the line was torn, or an older agentctl's
        return Predecessor(mark)


def _take(handle: int) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            holder = _pid(handle) or "unknown"
            if time.monotonic() > deadline:
                message = f"another agentctl (process {holder}) is at work in this work tree"
                raise AgentctlError(
                    message, "wait for it, or give this one a work tree of its own: git worktree add ../other", Exit.UNAVAILABLE
                ) from None
            time.sleep(0.05)


def holder(folder: Path) -> int | None:
    """The process that holds the lock in `folder`, None where nobody does."""
    try:
        handle = opened(folder / "lock", os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _pid(handle)
    else:
        return None
    finally:
        os.close(handle)


def _pid(handle: int) -> int:
    """Who wrote into the lock's file last, 0 where that can't be read."""
    text = os.pread(handle, 32, 0).decode("ascii", "replace").partition("\n")[0]
    return int(text) if text.isdigit() else 0
