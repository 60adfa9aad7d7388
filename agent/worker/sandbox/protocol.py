"""What a sandbox is: how a command may be confined, and how a mechanism turns that into a program to start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from msgspec import Struct


class Attempt(StrEnum):
    """What a command must not manage to do; each is tried for real before a mechanism is trusted."""

    WRITE = "write outside the work tree"
    MODE = "change modes of files outside"
    GIT = "write into .git and .agent"
    HOME = "read the home folder"
    TEMP = "read /tmp"
    NETWORK = "reach the network"
    SOCKET = "reach a program by its socket file"
    KILL = "signal processes outside"
    ENVIRON = "read other processes' variables"
    NAMESPACE = "make namespaces or gain capabilities"


class Limits(Struct, frozen=True):
    """What a command may use at most: processes, bytes of one file, and bytes of memory for each process (0: no limit)."""

    processes: int = 0
    file_bytes: int = 0
    memory_bytes: int = 0


class Confines(Struct, frozen=True):
    """What a command may see and change; all paths are absolute and resolved.

    `tree` and `write` may be changed, but for `kept` inside them; `read` may be read, but for `hidden`; `links` are links that lead there.
    `scratch` is an empty folder that stands for the home folder and for /tmp (its `home` and `tmp`). Nothing else of the machine is there but
    its programs.
    """

    tree: Path
    kept: tuple[Path, ...]
    read: tuple[Path, ...]
    write: tuple[Path, ...]
    hidden: tuple[Path, ...]
    links: tuple[tuple[Path, Path], ...]
    home: Path
    scratch: Path
    network: bool = False
    limits: Limits = Limits()


class Launch(Struct, frozen=True):
    """A program to start in place of a command, in exactly this environment.

    It inherits the descriptors `inherits`; whoever starts it closes them then. With `keeper` the program is not the command itself but watches
    over it: it ends when the command has, and takes everything along when it is killed.
    """

    argv: Sequence[str]
    env: Mapping[str, str]
    inherits: tuple[int, ...] = ()
    keeper: bool = False


class Sandbox(Protocol):
    """One mechanism. `told` names it and its version; `gaps` say what it can't keep a command from, in whole sentences."""

    @property
    def name(self) -> str: ...
    @property
    def told(self) -> str: ...
    @property
    def gaps(self) -> Mapping[Attempt, str]: ...
    @property
    def programs(self) -> Sequence[Path]:
        """The programs that confine a command, and stand or fall with what lies at these paths."""
        ...

    def absent(self) -> str:
        """Why it can't work on this machine, "" where it may."""
        ...

    def wrap(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, confines: Confines) -> Launch:
        """How to start `argv` in `cwd` with `env`, confined."""
        ...
