"""What the mechanisms share: the machine's own folders, the environment inside, and descriptors that carry data."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from agent.worker.sandbox.protocol import Confines

SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu", "/snap"),
    *("/run/current-system", "/sys/devices/system"),
)
"""Where machines keep programs and what those need, and nobody's own files."""

# Where tools keep what they write. Inside, their defaults hold, which lie below the home folder there; but for those that may be written to.
_WRITTEN = [
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "UV_CACHE_DIR",
    "PIP_CACHE_DIR",
    "CARGO_TARGET_DIR",
    "GOCACHE",
    "GRADLE_USER_HOME",
    "PNPM_HOME",
    "DENO_DIR",
]


def inner_environment(env: Mapping[str, str], confines: Confines, home: Path, temp: Path) -> dict[str, str]:
    """`env` as it is inside, where `home` and `temp` are the home folder and the one for temporary files."""
    writable = (confines.tree, *confines.write)
    kept = {name: value for name, value in env.items() if name not in _WRITTEN or is_below(Path(value), writable)}
    return {**kept, "HOME": str(home), "TMPDIR": str(temp)}


def is_below(path: Path, folders: Iterable[Path]) -> bool:
    """Whether `path` is one of `folders`, which are absolute, or lies in one."""
    spelled = f"{path}/"
    return any(spelled.startswith(f"{folder}/".replace("//", "/")) for folder in folders)


def above_kept(confines: Confines) -> list[Path]:
    """The folders inside what may be changed that `kept` lies in: one that is moved away could be put back with something else in it."""
    writable = (confines.tree, *confines.write)
    return sorted({folder for path in confines.kept for folder in path.parents if is_below(folder.parent, writable)})


def carried(data: bytes) -> int:
    """A descriptor to inherit from which `data` can be read."""
    descriptor = os.memfd_create("agentctl")
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


@cache
def private_files(folder: str = "/etc") -> tuple[Path, ...]:
    """What not everybody on the machine may read below `folder`, though this process may; only root has such."""
    return tuple(map(Path, _closed(folder))) if os.geteuid() == 0 else ()


def _closed(folder: str) -> Iterator[str]:
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():  # there are thousands, and this asks for nothing that the folder didn't tell
                continue
            mode = entry.stat(follow_symlinks=False).st_mode
            wanted = stat.S_IROTH | stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH
            if mode & wanted != wanted:
                yield entry.path
            elif stat.S_ISDIR(mode):
                yield from _closed(entry.path)
