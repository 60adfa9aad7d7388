"""macOS' sandbox-exec: a profile in its own language. Apple calls it deprecated; nothing else confines a command there without a virtual machine.

Of the rules for one operation the last one that fits decides. Only where none of them fits those for its wildcard are asked, wherever they stand:
`file-write-unlink` before `file-write*`, `file-read-metadata` before `file-read*`. `(deny default)` comes last of all, and some operations
(`process-info*`, `nvram*`, `file-link`, `file-clone`) are allowed where it would decide, so those are denied by name.
A profile with an operation or a filter that the system doesn't know confines nothing and starts nothing.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from agent.worker.sandbox.inside import inner_environment, is_below
from agent.worker.sandbox.protocol import Attempt, Confines, Launch

_PROGRAM = "/usr/bin/sandbox-exec"
_LONGEST = 1024  # bytes, MAXPATHLEN in sys/param.h of macOS
_READ = "file-read* file-read-metadata file-clone"
_WRITE = "file-write* file-link"
# /System/Volumes/Data is another name of the folders that people's own files lie in. Of /dev only what is harmless: a terminal can be listened to.
_ALWAYS = f"""(version 1)
(deny default)
(deny process-info* nvram* file-link file-clone)
(allow process-exec*)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow mach-priv-task-port (target same-sandbox))
(allow mach-host*)
(allow sysctl-read)
(deny sysctl-read (sysctl-name-regex #"procargs"))
(allow user-preference-read)
(allow ipc-posix-sem)
(allow ipc-posix-shm)
(allow mach-lookup
    (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.system.opendirectoryd.membership")
    (global-name "com.apple.system.logger") (global-name "com.apple.logd")
    (global-name "com.apple.system.notification_center") (global-name "com.apple.bsd.dirhelper"))
(allow file-read-metadata)
(allow file-read* (literal "/") (literal "/dev"))
(allow {_READ}
    (subpath "/usr") (subpath "/bin") (subpath "/sbin") (subpath "/System") (subpath "/Library") (subpath "/opt") (subpath "/nix")
    (subpath "/Applications/Xcode.app") (subpath "/private/etc") (subpath "/private/var/select") (subpath "/private/var/db/dyld")
    (subpath "/private/var/db/timezone") (literal "/private/var/db/xcode_select_link"))
(deny {_READ}
    (subpath "/System/Volumes/Data") (subpath "/Library/Keychains") (subpath "/opt/homebrew/var") (subpath "/usr/local/var"))
(allow file-read* file-write*
    (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random") (literal "/dev/urandom")
    (literal "/dev/stdout") (literal "/dev/stderr") (subpath "/dev/fd"))
(allow pseudo-tty)
(allow file-read* file-write* file-ioctl
    (literal "/dev/ptmx") (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))
"""
_NETWORK = """(allow network*)
(allow system-socket)
(allow mach-lookup
    (global-name "com.apple.mDNSResponder") (global-name "com.apple.SystemConfiguration.DNSConfiguration")
    (global-name "com.apple.SystemConfiguration.configd") (global-name "com.apple.trustd.agent") (global-name "com.apple.networkd"))
(allow file-read* (literal "/private/var/run/resolv.conf"))
(deny network* (remote unix-socket))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
"""


class Profile(Struct, frozen=True):
    """The text of a profile, and the paths that it names as parameters: none can end a rule, nor be too long for one (255 bytes)."""

    text: str
    paths: Mapping[str, Path]


class Seatbelt:
    """A profile made for each command."""

    name = "sandbox-exec"
    told = "sandbox-exec"
    gaps: Mapping[Attempt, str] = {}
    programs: Sequence[Path] = (Path(_PROGRAM),)

    def absent(self) -> str:
        return "" if sys.platform == "darwin" and Path(_PROGRAM).exists() else "that is macOS'"

    def wrap(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, confines: Confines) -> Launch:  # noqa: ARG002  # the shell starts it there
        inner = inner_environment(env, confines, confines.scratch / "home", confines.scratch / "tmp")
        made = profile(replace(confines, kept=_spellings(confines.kept), hidden=_spellings(confines.hidden)))
        parameters = [word for name, path in made.paths.items() for word in ("-D", f"{name}={path}")]
        return Launch([_PROGRAM, *parameters, "-p", made.text, *argv], inner)


def profile(confines: Confines) -> Profile:
    """The profile for `confines`."""
    rules = list(_rules(confines))
    names = {path: f"P{number}" for number, path in enumerate(dict.fromkeys(path for _, path in rules))}
    own = "".join(rule.format(f'(param "{names[path]}")') + "\n" for rule, path in rules)
    return Profile(_ALWAYS + own + (_NETWORK if confines.network else ""), {name: path for path, name in names.items()})


def _rules(confines: Confines) -> Iterator[tuple[str, Path]]:
    """Each rule, with the path that it is about."""
    write = (confines.tree, *confines.write, confines.scratch)
    closed = (*confines.kept, *confines.hidden)
    yield from _each(f"(allow {_READ} (subpath {{}}))", (*confines.read, *confines.kept, *write))
    yield from _each(f"(allow {_WRITE} (subpath {{}}))", write)
    yield from _each("(allow file-mknod (require-all (subpath {}) (vnode-type FIFO)))", write)
    yield from _each(f"(deny {_WRITE} file-mknod (subpath {{}}))", closed)
    yield from _each("(deny file-write-unlink (literal {}))", _steady(write, closed))
    yield from _each(f"(deny {_READ} (subpath {{}}))", confines.hidden)


def _each(rule: str, paths: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    yield from ((rule, path) for path in paths)


def _steady(write: Sequence[Path], closed: Sequence[Path]) -> list[Path]:
    """What may be changed but not moved, for there other rules would hold for what lies in it: `write`, and the folders in it above `closed`."""
    return sorted({*write, *(folder for path in (*write, *closed) for folder in path.parents if is_below(folder, write))})


def _spellings(paths: Sequence[Path]) -> tuple[Path, ...]:
    """`paths`, and what the file system calls them where it takes other cases or Unicode forms for the same name. Rules know that spelling alone."""
    return tuple(dict.fromkeys((*paths, *map(_spelled, paths))))


def _spelled(path: Path) -> Path:
    if sys.platform == "darwin":
        with suppress(OSError):
            descriptor = os.open(path, os.O_EVTONLY)
            try:
                return Path(os.fsdecode(fcntl.fcntl(descriptor, fcntl.F_GETPATH, bytes(_LONGEST)).rstrip(b"\0")))
            finally:
                os.close(descriptor)
    return path
