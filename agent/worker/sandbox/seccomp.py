"""A filter for system calls, as the kernel reads it (linux/filter.h, linux/seccomp.h): what namespaces and Landlock leave open.

Sockets only of the families named; no limits of other processes, no terminal's input queue, no kernel keyrings, no new namespaces, and none of the calls that programs under
test don't need but attacks on kernels do. A filter says no with an error, so that programs can go another way.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Collection, Mapping

from msgspec import Struct

UNIX, INET, INET6, NETLINK = 1, 2, 10, 16  # socket(2)
_LOAD, _EQUAL, _ABOVE, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06  # BPF_LD|W|ABS, BPF_JMP|JEQ, |JGT, |JSET, BPF_RET
_NUMBER, _ARCH, _FIRST, _SECOND = 0, 4, 16, 24  # offsets in struct seccomp_data, low words of the arguments
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS | CGROUP | UTS | IPC | USER | PID | NET
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C


class _Machine(Struct, frozen=True):
    """The numbers of system calls on one kind of machine; `beyond` is the first number of another kind's, behind the same name (x32)."""

    arch: int
    calls: Mapping[str, int]
    beyond: int = 0


_NEW_CALLS = {"clone3": 435, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427}
_X86_64 = {
    "socket": 41, "ioctl": 16, "clone": 56, "unshare": 272, "setns": 308, "add_key": 248, "request_key": 249, "keyctl": 250,
    "bpf": 321, "prlimit64": 302, "perf_event_open": 298, "userfaultfd": 323, "open_by_handle_at": 304,
}  # fmt: skip
_ARM64 = {
    "socket": 198, "ioctl": 29, "clone": 220, "unshare": 97, "setns": 268, "add_key": 217, "request_key": 218, "keyctl": 219,
    "bpf": 280, "prlimit64": 261, "perf_event_open": 241, "userfaultfd": 282, "open_by_handle_at": 265,
}  # fmt: skip
_MACHINES = {
    "x86_64": _Machine(0xC000003E, {**_X86_64, **_NEW_CALLS}, beyond=0x40000000),
    "aarch64": _Machine(0xC00000B7, {**_ARM64, **_NEW_CALLS}),
}
_REFUSED = (
    *("unshare", "setns", "add_key", "request_key", "keyctl", "bpf", "perf_event_open", "userfaultfd", "open_by_handle_at"),
    *("io_uring_setup", "io_uring_enter", "io_uring_register"),  # they open sockets past any filter of socket(2)
)


def seccomp_filter(families: Collection[int], machine: str | None = None) -> bytes:
    """The filter for this machine (or the one named as `uname -m` does): sockets of `families` only. Empty where the machine isn't known."""
    known = _MACHINES.get(machine or platform.machine())
    if known is None:
        return b""
    calls = known.calls
    program = [_step(_LOAD, _ARCH), *_unless(_EQUAL, known.arch, [_no(errno.ENOSYS)]), _step(_LOAD, _NUMBER)]
    if known.beyond:
        program += _when(_ABOVE, known.beyond - 1, [_no(errno.ENOSYS)])
    for name in _REFUSED:
        program += _when(_EQUAL, calls[name], [_no(errno.EPERM)])
    program += _when(_EQUAL, calls["clone3"], [_no(errno.ENOSYS)])  # its flags lie in memory, out of a filter's sight: libraries then take clone
    program += _when(_EQUAL, calls["clone"], [_step(_LOAD, _FIRST), *_when(_ANY_BIT, _NEW_NAMESPACES, [_no(errno.EPERM)]), _yes()])
    allowed = [step for family in sorted(families) for step in _when(_EQUAL, family, [_yes()])]
    program += _when(_EQUAL, calls["socket"], [_step(_LOAD, _FIRST), *allowed, _no(errno.EPERM)])
    program += _when(_EQUAL, calls["prlimit64"], [_step(_LOAD, _FIRST), *_unless(_EQUAL, 0, [_no(errno.EPERM)]), _yes()])
    terminal = [step for request in (_TIOCSTI, _TIOCLINUX) for step in _when(_EQUAL, request, [_no(errno.EPERM)])]
    program += _when(_EQUAL, calls["ioctl"], [_step(_LOAD, _SECOND), *terminal, _yes()])
    return b"".join([*program, _yes()])


def _step(code: int, value: int, then: int = 0, other: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, other, value)


def _when(test: int, value: int, body: list[bytes]) -> list[bytes]:
    """`body` where the loaded word passes the test."""
    return [_step(test, value, 0, len(body)), *body]


def _unless(test: int, value: int, body: list[bytes]) -> list[bytes]:
    return [_step(test, value, len(body), 0), *body]


def _yes() -> bytes:
    return _step(_RETURN, _ALLOW)


def _no(error: int) -> bytes:
    return _step(_RETURN, _ERRNO | error)
