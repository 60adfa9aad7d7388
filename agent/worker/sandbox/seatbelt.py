"""macOS' sandbox-exec: a profile in its own language. Apple calls it deprecated; nothing else confines a command there without a virtual machine."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from agent.worker.sandbox.inside import above_kept, inner_environment
from agent.worker.sandbox.protocol import Attempt, Confines, Launch

_PROGRAM = "/usr/bin/sandbox-exec"
_SYSTEM = (
    *(
        "/usr",
        "/bin",
        "/sbin",
        "/System",
        "/Library",
        "/opt",
        "/private/etc",
        "/private/var/db/dyld",
        "/private/var/select",
        "/private/var/db/timezone",
    ),
    *("/Applications/Xcode.app", "/nix", "/dev"),
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/fd", "/dev/stdout", "/dev/stderr")
_NAMES_AND_CERTIFICATES = (
    *("com.apple.mDNSResponder", "com.apple.SystemConfiguration.DNSConfiguration", "com.apple.SystemConfiguration.configd"),
    *("com.apple.trustd.agent", "com.apple.networkd"),
)
_ALWAYS = """(version 1)
(deny default)
(allow process-exec*)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow file-read-metadata)
(allow file-read* (literal "/"))
(allow pseudo-tty)
(allow ipc-posix-sem)
(allow ipc-posix-shm)
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
(allow mach-lookup (global-name "com.apple.system.logger"))
"""


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
        return Launch([_PROGRAM, "-p", profile(confines), *argv], inner)


def profile(confines: Confines) -> str:
    """The rules for `confines`; of several that fit, the last one decides."""
    return _ALWAYS + "".join(f"{rule}\n" for rule in _rules(confines))


def _rules(confines: Confines) -> Iterator[str]:
    write = (confines.tree, *confines.write, confines.scratch)
    yield from _each("allow file-read*", (*map(Path, _SYSTEM), *confines.read, *confines.kept, *write))
    yield from _each("allow file-write*", write)
    yield from _each("deny file-write*", confines.kept)
    yield from (f"(deny file-write-unlink (literal {_text(str(folder))}))" for folder in above_kept(confines))
    yield from _each("deny file-read*", confines.hidden)
    yield from (f"(allow file-read* file-write* file-ioctl (literal {_text(device)}))" for device in _DEVICES)
    if confines.network:
        yield "(allow network*)"
        yield from (f"(allow mach-lookup (global-name {_text(name)}))" for name in _NAMES_AND_CERTIFICATES)
        yield "(allow system-socket)"
        yield "(deny network* (remote unix-socket))"
    else:
        yield '(allow network-bind (local ip "localhost:*"))'
        yield '(allow network-inbound (local ip "localhost:*"))'


def _each(what: str, paths: Iterable[Path]) -> Iterator[str]:
    yield from (f"({what} (subpath {_text(str(path))}))" for path in paths)


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
