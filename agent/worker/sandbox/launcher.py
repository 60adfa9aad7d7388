"""The program that starts a command under Landlock, as a process of its own.

It imports as little as it can, since each command waits for it: `signal` takes as long as the interpreter itself and `ctypes` half of that, but
not what lies below them in C. It starts the command in a child that confines itself first. All that this starts and that loses its parent becomes a child of this process,
which ends it when the command has ended, or when whoever started this process has. Numbers are those of linux/landlock.h, linux/prctl.h and
linux/seccomp.h.
"""

from __future__ import annotations

import _ctypes
import _signal  # type: ignore[import-not-found]  # mypy knows of signal alone
import marshal
import os
import resource
import stat
import sys

TYPE_CHECKING = False  # as of typing, which takes longer to import than all the rest takes together
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on all machines
_CAPSET = {"x86_64": 126, "aarch64": 91}
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_ALL = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}  # by the version that brought the last of them
_DEVICES = 1 << 6 | 1 << 11  # making character and block devices: never
_SCOPED, _SCOPES = 6, 3  # abstract sockets and signals
_SET_PDEATHSIG, _SET_NO_NEW_PRIVS, _SET_SECCOMP, _CAPBSET_DROP, _SET_CHILD_SUBREAPER = 1, 38, 22, 24, 36
_LAST_CAPABILITY = 63
_PATH = os.O_PATH | os.O_CLOEXEC
_NOT_CONFINED = 125  # as env(1) and timeout(1) exit where they fail themselves

_SIGTERM, _SIGKILL = 15, 9


class _Int(_ctypes._SimpleCData):  # type: ignore[type-arg]  # noqa: SLF001 - ctypes makes its own of it
    _type_ = "i"


class _Long(_ctypes._SimpleCData):  # type: ignore[type-arg]  # noqa: SLF001 - as above
    _type_ = "l"


class _Text(_ctypes._SimpleCData):  # type: ignore[type-arg]  # noqa: SLF001 - as above
    _type_ = "z"


class _Function(_ctypes.CFuncPtr):
    """As `ctypes.CDLL(None, use_errno=True)` makes them."""

    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    _restype_ = _Int


def _c(name: str, *arguments: object) -> int:
    """Calls a function of the C library that this process has loaded."""
    return int(_Function(_ctypes.dlsym(_ctypes.dlopen(None, 0), name))(*arguments))  # type: ignore[arg-type]  # None: what is loaded


def version() -> int:
    """The version of Landlock that the kernel has, 0 where it has none."""
    if sys.platform != "linux":
        return 0
    return max(0, _c("syscall", _CREATE_RULESET, None, _Long(0), _VERSION_FLAG))


def main(descriptor: int) -> int:
    """Run the command that the order at `descriptor` holds (marshalled, as `Landlock.wrap` writes it); gives its exit code."""
    with os.fdopen(descriptor, "rb") as feed:
        order = marshal.load(feed)  # noqa: S302 - what agentctl wrote a moment ago
    parent = os.getppid()
    _prctl(_SET_CHILD_SUBREAPER, 1)
    _prctl(_SET_PDEATHSIG, _SIGTERM)
    _signal.signal(_SIGTERM, lambda *_: sys.exit(_end_all()))
    if os.getppid() != parent:
        return 128 + _SIGTERM
    child = os.fork()
    if child == 0:
        _become(order)
    code = _wait_for(child)
    _end_all()
    return code


def _wait_for(child: int) -> int:
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _end_all() -> int:
    """End whatever is below this process, until nothing is: those that lose their parent come to this one."""
    while True:
        children = _children()
        if not children:
            return 128 + _SIGTERM
        for pid in children:
            os.kill(pid, _SIGKILL)  # it is there until it is waited for, by this process alone
        os.wait()


def _children() -> list[int]:
    with open("/proc/thread-self/children", "rb") as file:  # noqa: PTH123 - this program imports little
        return [int(word) for word in file.read().split()]


def _become(order: Mapping[str, Any]) -> None:
    try:
        _signal.signal(_SIGTERM, _signal.SIG_DFL)
        os.chdir(order["cwd"])
        _limit(order)
        _prctl(_SET_NO_NEW_PRIVS, 1)
        _drop_capabilities()
        _restrict(order["read"], order["write"], order["devices"])
        rules = order["filter"]
        if rules:
            steps = _Text(rules)
            program = (len(rules) // 8).to_bytes(8, sys.byteorder) + bytes(steps)  # struct sock_fprog
            _check(_c("prctl", _SET_SECCOMP, 2, program, 0, 0), "seccomp")
        os.execvpe(order["argv"][0], order["argv"], order["env"])  # noqa: S606 - it is what this program is for
    except OSError as error:
        os.write(2, f"the sandbox could not be set up: {error}\n".encode())
    os._exit(_NOT_CONFINED)


def _limit(order: Mapping[str, Any]) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name, kind in (("processes", resource.RLIMIT_NPROC), ("file_bytes", resource.RLIMIT_FSIZE), ("memory_bytes", resource.RLIMIT_AS)):
        if order[name]:
            most = resource.getrlimit(kind)[1]
            wanted = order[name] if most == resource.RLIM_INFINITY else min(order[name], most)
            resource.setrlimit(kind, (wanted, wanted))


def _drop_capabilities() -> None:
    for number in range(_LAST_CAPABILITY + 1):
        _c("prctl", _CAPBSET_DROP, number, 0, 0, 0)  # one that the kernel doesn't know, or that can't be dropped, is dropped below
    header = 0x20080522.to_bytes(4, sys.byteorder) + bytes(4)  # _LINUX_CAPABILITY_VERSION_3, this process
    _check(_c("syscall", _CAPSET[os.uname().machine], header, bytes(24)), "capset")


def _restrict(read: Iterable[str], write: Iterable[str], devices: Iterable[str]) -> None:
    known = version()
    every = max(bits for first, bits in _ALL.items() if first <= known)
    wanted = b"".join(
        bits.to_bytes(8, sys.byteorder) for bits in ([every, 0, _SCOPES] if known >= _SCOPED else [every])
    )  # struct landlock_ruleset_attr
    rules = _check(_c("syscall", _CREATE_RULESET, wanted, _Long(len(wanted)), 0), "landlock")
    for paths, access in ((read, _EXECUTE | _READ_FILE | _READ_DIR), (write, every & ~_DEVICES), (devices, _READ_FILE | _WRITE_FILE | _TRUNCATE)):
        for path in paths:
            _allow(rules, path, access & every)
    _check(_c("syscall", _RESTRICT_SELF, rules, 0), "landlock")
    os.close(rules)


def _allow(rules: int, path: str, access: int) -> None:
    try:
        place = os.open(path, _PATH)
    except OSError:
        return  # what can't be opened can't be allowed
    try:
        allowed = access if stat.S_ISDIR(os.fstat(place).st_mode) else access & _ON_FILES
        rule = allowed.to_bytes(8, sys.byteorder) + place.to_bytes(4, sys.byteorder)  # struct landlock_path_beneath_attr, packed
        _check(_c("syscall", _ADD_RULE, rules, _PATH_BENEATH, rule, 0), path)
    finally:
        os.close(place)


def _prctl(option: int, value: int) -> None:
    _check(_c("prctl", option, value, 0, 0, 0), "prctl")


def _check(result: int, what: str) -> int:
    if result < 0:
        error = _ctypes.get_errno()
        raise OSError(error, os.strerror(error), what)
    return result
