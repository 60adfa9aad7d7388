"""A limit of processes for root, whom the kernel's own limits don't count: a control group for each command, where this process may make one.

See cgroups(7), and the kernel's admin-guide/cgroup-v1/pids and cgroup-v2.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from agent.worker.sandbox.protocol import Launch

_PLACE = Path("/sys/fs/cgroup")
_NAME = "agentctl"
# Where it can't join, the command runs all the same: the trial has told of it.
_JOIN = '{ echo $$ > "$0"; } 2>/dev/null; exec "$@"'


@contextmanager
def counted(launch: Launch, processes: int) -> Iterator[Launch]:
    """`launch` in a group of its own with at most `processes` (and threads), 0 for no limit; as it is where it is counted anyway, or no group can be made."""
    group = _made(processes) if processes and os.geteuid() == 0 else None
    if group is None:
        yield launch
        return
    try:
        yield replace(launch, argv=["/bin/sh", "-c", _JOIN, str(group / "cgroup.procs"), *launch.argv])
    finally:
        _removed(group)


def _made(processes: int) -> Path | None:
    for parent in _parents():
        group = parent / f"{_NAME}.{_numbers()}.{os.getpid()}.{secrets.token_hex(4)}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / "pids.max").write_text(str(processes), "ascii")
        except OSError:  # its parent counts no processes
            _removed(group)
            continue
        return group
    return None


def _removed(group: Path) -> None:
    """Remove a group; one in which something still ends goes with the next one."""
    with suppress(OSError):
        group.rmdir()


@cache
def _parents() -> tuple[Path, ...]:
    """Where a group may be made: in this process's own, or beside it. What killed processes left there is removed."""
    found = []
    for controllers, path in _own():
        place = _PLACE / "pids" if controllers else _PLACE
        own = place / path.lstrip("/")
        found += [folder for folder in (own, own.parent) if folder.is_relative_to(place) and (folder / "cgroup.procs").exists()]
    for left in (group for folder in found for group in folder.glob(f"{_NAME}.{_numbers()}.*")):
        # One of a process that lives may be empty because its command is about to join it.
        if not Path("/proc", left.name.split(".")[2]).exists():
            _removed(left)
    return tuple(found)


def _numbers() -> str:
    """The namespace in which this process has its number."""
    return str(os.stat("/proc/self/ns/pid").st_ino)  # noqa: PTH116 - a magic link


def _own() -> Sequence[tuple[str, str]]:
    """The controllers ("" for version 2) and the path of each group of this process that may count processes."""
    try:
        lines = Path("/proc/self/cgroup").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ()
    fields = [line.split(":", 2) for line in lines if line.count(":") > 1]
    return [(controllers, path) for _, controllers, path in fields if not controllers or "pids" in controllers.split(",")]
