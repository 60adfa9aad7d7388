"""A program that tries what a sandbox must keep a command from, and prints for each attempt whether it was held or open.

It runs as a command inside the sandbox that is tried, from its text, at each step: so it imports little, and of that what is written in C.
"""

from __future__ import annotations

import _socket
import ctypes
import os
import sys
from collections.abc import Callable, Mapping

_NEW_USER_NAMESPACE = 0x10000000  # CLONE_NEWUSER, linux/sched.h
_PROCESS_ARGUMENTS = (1, 49)  # CTL_KERN, KERN_PROCARGS2, sys/sysctl.h of macOS
_MOST_ARGUMENTS = 1 << 20  # bytes, ARG_MAX there


def report(told: Mapping[str, str]) -> None:
    """Try all, with what agentctl tells of itself."""
    attempts: Mapping[str, Callable[[], object]] = {
        "WRITE": lambda: _write(told["outside"]),
        "MODE": lambda: os.chmod(told["temp"], 0o600),  # noqa: PTH101 - as above
        "GIT": lambda: _either(told["git"], told["agent"]),
        "HOME": lambda: _read(told["secret"]),
        "TEMP": lambda: _read(told["temp"]),
        "NETWORK": lambda: _connect(int(told["port"])),
        "SOCKET": lambda: _socket.socket(_socket.AF_UNIX).connect(told["socket"]),
        "KILL": lambda: _signal(int(told["pid"]), told["started"]),
        "ENVIRON": lambda: _kept_variables(int(told["pid"])) if sys.platform == "darwin" else _foreign_variables(told["mark"]),
        "NAMESPACE": _gain,
    }
    for name, attempt in attempts.items():
        try:
            attempt()
        except (OSError, ValueError) as error:
            print(f"{name} held {error}", flush=True)  # noqa: T201 - its report
        else:
            print(f"{name} open", flush=True)  # noqa: T201 - as above


def _read(path: str) -> None:
    with open(path, "rb") as file:  # noqa: PTH123 - this program imports little
        file.read(1)


def _write(path: str) -> None:
    with open(path, "wb") as file:  # noqa: PTH123 - as above
        file.write(b"x")


def _connect(port: int) -> None:
    reaching = _socket.socket(_socket.AF_INET)
    reaching.settimeout(1)
    reaching.connect(("127.0.0.1", port))


def _either(*paths: str) -> None:
    """Writes to one of `paths`, or raises what the last of them did."""
    for path in paths:
        try:
            _write(path)
        except OSError as error:
            last = error
        else:
            return
    raise last


def _signal(pid: int, started: str) -> None:
    """Signals the process; one inside that happens to have its number is another, begun at another time."""
    os.kill(pid, 0)
    if started and _started(pid) != started:
        raise ProcessLookupError(3, "No such process")


def _started(pid: int) -> str:
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - as above
        return file.read().rpartition(")")[2].split()[19]  # proc(5), field 22


def _foreign_variables(mark: str) -> None:
    """Finds variables of a process that doesn't carry this command's mark."""
    for entry in os.listdir("/proc"):  # noqa: PTH208 - as above
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:  # noqa: PTH123 - as above
                variables = file.read()
        except OSError:
            continue
        if variables and mark.encode() not in variables:
            return
    raise PermissionError(1, "Operation not permitted")


def _kept_variables(pid: int) -> None:
    """Has macOS' kernel tell the arguments and variables of the process; to be told nothing of them raises too."""
    asked = (ctypes.c_int * 3)(*_PROCESS_ARGUMENTS, pid)
    room, size = ctypes.create_string_buffer(_MOST_ARGUMENTS), ctypes.c_size_t(_MOST_ARGUMENTS)
    if ctypes.CDLL(None, use_errno=True).sysctl(asked, 3, room, ctypes.byref(size), None, ctypes.c_size_t(0)) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    if size.value == 0:
        raise PermissionError(1, "Operation not permitted")


def _gain() -> None:
    """Has a capability, or makes a namespace in which it has them all."""
    with open("/proc/self/status", encoding="utf-8") as file:  # noqa: PTH123 - as above
        effective = next(line.split()[1] for line in file if line.startswith("CapEff:"))
    if int(effective, 16) == 0 and ctypes.CDLL(None, use_errno=True).unshare(_NEW_USER_NAMESPACE) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    report(dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True)))
