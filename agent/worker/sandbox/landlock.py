"""Landlock: where no namespaces can be had, the kernel itself refuses what the command may not open. Weaker than bubblewrap, and said so."""

from __future__ import annotations

import marshal
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from agent.worker.sandbox import launcher
from agent.worker.sandbox.inside import SYSTEM, carried, inner_environment, is_below, private_files
from agent.worker.sandbox.protocol import Attempt, Confines, Launch
from agent.worker.sandbox.seccomp import INET, INET6, NETLINK, seccomp_filter

_SIGNALS = 6  # the first version that keeps signals inside
_DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty"))
# From its folder, and not from the package, whose other modules it needn't load.
_START = f"import sys; sys.path[:0] = [{str(Path(launcher.__file__).parent)!r}]; import launcher; sys.exit(launcher.main(int(sys.argv[1])))"


class Landlock:
    """A small process of ours confines itself, starts the command, and takes along what that leaves when it ends."""

    name = "landlock"

    def __init__(self) -> None:
        self.version = launcher.version()

    @property
    def told(self) -> str:
        return f"{self.name} (version {self.version} of the kernel's)"

    @property
    def gaps(self) -> Mapping[Attempt, str]:
        gaps = {
            Attempt.GIT: "commands can write into .git and .agent: delete history, or plant a hook, which the step's commit refuses to run, but with AGENTCTL_TRUST=yes"
        }
        gaps[Attempt.MODE] = "commands can change the modes and times of your files elsewhere, though not read or write them"
        if self.version < _SIGNALS:
            gaps[Attempt.KILL] = "commands can end other processes of yours: Linux 6.12 keeps signals inside"
        return gaps

    @property
    def programs(self) -> Sequence[Path]:
        return (Path(sys.executable),)

    def absent(self) -> str:
        return "" if self.version > 0 else "the kernel has no Landlock (Linux 5.13 and newer), or a container forbids it"

    def wrap(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, confines: Confines) -> Launch:
        home, temp = confines.scratch / "home", confines.scratch / "tmp"
        families = (INET, INET6, NETLINK) if confines.network else (NETLINK,)
        order = {
            "argv": list(argv),
            "env": inner_environment(env, confines, home, temp),
            "cwd": str(cwd),
            "read": _readable((*confines.read, *confines.kept), confines.hidden),
            "write": [str(path) for path in (confines.tree, *confines.write, confines.scratch)],
            "devices": _DEVICES,
            "filter": seccomp_filter(families),
            "processes": confines.limits.processes,
            "file_bytes": confines.limits.file_bytes,
            "memory_bytes": confines.limits.memory_bytes,
        }
        descriptor = carried(marshal.dumps(order))
        return Launch([sys.executable, "-I", "-S", "-c", _START, str(descriptor)], {}, (descriptor,), keeper=True)


@cache
def _readable(paths: tuple[Path, ...], hidden: tuple[Path, ...]) -> tuple[str, ...]:
    """The machine's own folders and `paths`; of a folder in which something is hidden, all the rest one by one."""
    every = (*map(Path, SYSTEM), *paths, Path("/proc"))
    return tuple(str(one) for path in every for one in _without(path, (*private_files(), *hidden)))


def _without(path: Path, hidden: Sequence[Path]) -> Iterator[Path]:
    inside = [one for one in hidden if is_below(one, (path,))]
    if path in inside or not path.exists():
        return
    if not inside:
        yield path
        return
    for entry in path.iterdir():
        yield from _without(entry, inside)
