"""Sockets that programs outside listen at, found where they lie now: no read-only mount keeps anybody from connecting to one.

The kernel tells the inode of each (sock_diag(7), linux/unix_diag.h), and the name that it was bound by: one that is relative to a folder which
only its program knows, or that has changed since, when somebody moved what it lies in.
"""

from __future__ import annotations

import os
import socket
import stat
import struct
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path

from agent.worker.sandbox.inside import is_below

_SOCK_DIAG, _BY_FAMILY, _ERROR, _DONE = 4, 20, 2, 3  # linux/netlink.h, linux/sock_diag.h
_DUMP, _ANY_STATE, _ANY_COOKIE = 0x301, 0xFFFFFFFF, 0xFFFFFFFF
_NAME, _FILE = 0, 1  # attributes of an answer; asked for by the bits 1 << _NAME, 1 << _FILE
_INODE = 0xFFFFFFFF  # of an inode's number the kernel tells 32 bits
_MOST = 300_000  # entries to search for sockets whose names lead nowhere
_elsewhere: set[tuple[int, Collection[Path]]] = set()


def sockets_in(visible: Collection[Path], writable: Collection[Path]) -> list[Path]:
    """The sockets of this network namespace in the folders `visible`; where a name doesn't tell, `writable` are searched, up to 300,000 entries."""
    found: set[Path] = set()
    lost: set[int] = set()
    folders: list[str] | None = None
    for inode, name in _bound():
        if folders is None and not name.startswith("/"):
            folders = _working_folders()
        places = {Path(os.path.realpath(os.path.join(folder, name))) for folder in (["/"] if name.startswith("/") else folders or ())}  # noqa: PTH118 - many
        there = [(place, told) for place in places if (told := _socket(place)) and (inode is None or told.st_ino & _INODE == inode)]
        found.update(place for place, _ in there if is_below(place, visible))
        if inode is not None and (not there or any(told.st_nlink > 1 for _, told in there)):
            lost.add(inode)
    return sorted(found.union(_searched(lost, tuple(writable))))


def _bound() -> list[tuple[int | None, str]]:
    """Inode and name of each socket that has a file; names alone where the kernel can't be asked."""
    try:
        return list(_told_by_kernel())
    except OSError:
        pass
    try:
        lines = Path("/proc/net/unix").read_text("utf-8", "surrogateescape").splitlines()[1:]
    except OSError:
        return []
    names = {words[7] for words in (line.split(" ", 7) for line in lines) if len(words) > 7}  # noqa: PLR2004 - the eighth column, see unix(7)
    return [(None, name) for name in sorted(names) if not name.startswith("@")]


def _told_by_kernel() -> Iterator[tuple[int, str]]:
    request = struct.pack("=BBHIIIII", socket.AF_UNIX, 0, 0, _ANY_STATE, 0, 1 << _NAME | 1 << _FILE, _ANY_COOKIE, _ANY_COOKIE)
    with closing(socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _SOCK_DIAG)) as kernel:
        kernel.settimeout(1)
        kernel.send(struct.pack("=IHHII", 16 + len(request), _BY_FAMILY, _DUMP, 1, 0) + request)
        while True:
            data = kernel.recv(1 << 18)
            while data:
                length, kind = struct.unpack_from("=IH", data)
                if kind == _DONE:
                    return
                if kind == _ERROR:
                    raise OSError("no sock_diag")
                told = dict(_attributes(data[32:length]))
                if _FILE in told and _NAME in told:
                    yield struct.unpack("=II", told[_FILE])[0], os.fsdecode(told[_NAME].rstrip(b"\0"))
                data = data[(length + 3) & ~3 :]


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while data:
        length, kind = struct.unpack_from("=HH", data)
        yield kind, data[4:length]
        data = data[(length + 3) & ~3 :]


def _working_folders() -> list[str]:
    """The folders that programs are in, those of them that may be known."""
    found = set()
    for entry in os.listdir("/proc"):  # noqa: PTH208 - names are enough
        if entry.isdigit():
            try:
                found.add(os.readlink(f"/proc/{entry}/cwd"))  # noqa: PTH115 - a magic link
            except OSError:
                continue
    return sorted(found)


def _socket(path: Path) -> os.stat_result | None:
    try:
        told = path.lstat()
    except (OSError, ValueError):
        return None
    return told if stat.S_ISSOCK(told.st_mode) else None


def _searched(inodes: Collection[int], folders: Collection[Path]) -> Iterator[Path]:
    """Where in `folders` sockets with these inodes lie. One that isn't there is not looked for again: nobody inside can bring it there."""
    wanted = {inode for inode in inodes if (inode, folders) not in _elsewhere}
    missing, left = set(wanted), _MOST
    ahead = deque(folders if wanted else ())
    while ahead and left > 0:
        try:
            entries = list(os.scandir(ahead.popleft()))
        except OSError:
            continue
        left -= len(entries)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                ahead.append(Path(entry.path))
            elif entry.inode() & _INODE in wanted and _socket(Path(entry.path)):
                missing.discard(entry.inode() & _INODE)
                yield Path(entry.path)
    _elsewhere.update((inode, folders) for inode in missing)
