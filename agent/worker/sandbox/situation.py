"""All that the outcome of a trial depends on: where any of it differs, a sandbox has to be tried anew."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from agent.boot import boot_id
from agent.worker.sandbox.protocol import Sandbox
from agent.worker.shell import shell_argv

_LASTS = 12 * 3600  # seconds: whatever else there may be that nobody thought of, a trial is made twice a day
_STATUS = ("Uid:", "Gid:", "Groups:", "Cap", "NoNewPrivs:", "Seccomp")  # lines of /proc/self/status, see proc(5)
_OWN = ("attr/current", "attr/apparmor/current", "attr/smack/current", "uid_map", "gid_map", "setgroups", "loginuid", "personality")
_NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "pid_for_children", "time", "user", "uts")
_SETTINGS = (
    *("kernel/unprivileged_userns_clone", "kernel/apparmor_restrict_unprivileged_userns", "kernel/apparmor_restrict_unprivileged_unconfined"),
    *("kernel/yama/ptrace_scope", "kernel/unprivileged_bpf_disabled", "kernel/io_uring_disabled", "kernel/seccomp/actions_avail"),
    *("kernel/cap_last_cap", "kernel/overflowuid", "kernel/perf_event_paranoid", "dev/tty/legacy_tiocsti", "vm/unprivileged_userfaultfd"),
    *(f"user/max_{kind}_namespaces" for kind in ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time")),
    *("fs/protected_hardlinks", "fs/protected_symlinks", "fs/suid_dumpable"),
)
_MODULES = ("/sys/kernel/security/lsm", "/sys/fs/selinux/enforce", "/sys/module/apparmor/parameters/enabled")


def situation(sandbox: Sandbox) -> str:
    """A name that no other situation has in which `sandbox` could be tried; "" where the system can't tell its starts apart.

    It is made of this start of the machine and the half of a day, the kernel and its settings, what this process may do and which namespaces it
    is in, the programs that confine, and our own code.
    """
    boot = boot_id()
    if not boot:
        return ""
    told = [boot, str(time.clock_gettime(time.CLOCK_BOOTTIME) // _LASTS), *os.uname(), sandbox.told, sys.version, tempfile.gettempdir(), _code()]
    told += [f"{name}: {_read(Path('/proc/self', name))}" for name in _OWN]
    told += [f"{kind}: {_leads(Path('/proc/self/ns', kind))}" for kind in _NAMESPACES]
    told += [line for line in _read(Path("/proc/self/status")).splitlines() if line.startswith(_STATUS)]
    told += [f"{name}: {_read(Path('/proc/sys', name))}" for name in _SETTINGS] + [f"{path}: {_read(Path(path))}" for path in _MODULES]
    for program in (*sandbox.programs, Path(shell_argv("", os.environ.get("PATH"))[0]), Path(sys.executable)):
        told += _identity(program)
    return hashlib.sha256("\0".join(told).encode("utf-8", "surrogateescape")).hexdigest()


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "surrogateescape")
    except OSError as error:
        return f"({error.errno})"


def _leads(link: Path) -> str:
    try:
        return os.readlink(link)  # noqa: PTH115 - a magic link, no path
    except OSError as error:
        return f"({error.errno})"


def _identity(program: Path) -> Iterator[str]:
    """The path with all its links followed, and what a file can't be replaced or changed without: its times of change can't be set."""
    real = Path(os.path.realpath(program))
    yield f"{program} {real}"
    for path in (real.parent, real):
        try:
            told = path.stat()
        except OSError as error:
            yield f"({error.errno})"
            return
        yield f"{told.st_dev} {told.st_ino} {told.st_mode} {told.st_uid} {told.st_gid}"
    yield f"{told.st_size} {told.st_mtime_ns} {told.st_ctime_ns}"


@cache
def _code() -> str:
    """A digest of the sources that confine commands and try it, as they are when they are first asked for."""
    digest = hashlib.sha256()
    for file in (*sorted(Path(__file__).parent.glob("*.py")), *sorted(Path(__file__).parent.parent.glob("*.py"))):
        digest.update(b"%s\0%s\0" % (os.fsencode(file), file.read_bytes()))
    return digest.hexdigest()
