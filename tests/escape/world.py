"""A repository with a world around it, and what of that world a command has touched, read or reached."""

from __future__ import annotations

import hashlib
import os
import shlex
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agent.actions.shells import Shells, open_shells
from agent.domain.config import SandboxSettings
from agent.repository.repo import discover
from tests.project import Project

SECRET = "herring-in-the-harbour-1907"  # noqa: S105 - nobody's
SHARED = Path("/dev/shm")  # noqa: S108 - it is what is looked at
ESCAPED = "E-S-C-A-P-E-D"
"""What an attempt prints when it has succeeded at something that leaves no trace; spelled apart in its text, so that an error that quotes it is none."""


@dataclass
class World:
    """`outside` and `home` lie beside the repository; `victim` is a process of the same user, with the secret in its environment."""

    project: Project
    outside: Path
    home: Path
    victim: subprocess.Popen[bytes]
    listeners: dict[str, socket.socket]
    shells: Shells
    places: dict[str, str] = field(default_factory=dict)

    def run(self, command: str, timeout: int = 30) -> str:
        """All that the command says in the shell behind the worker's tool, which would take keys out of it; `{outside}` and the like stand for places."""
        return self.shells.work.run(self.filled(command), timeout).output

    def filled(self, text: str) -> str:
        """`text` with places in the stead of `{outside}` and the like."""
        for name, place in self.places.items():
            text = text.replace(f"{{{name}}}", place)
        return text

    def trace(self, *more: Path) -> dict[str, str]:
        """What must be the same after a command as before: git's files, agentctl's, those outside and in `more`, the victim, and what reached a listener."""
        folders = [self.project.root / ".git", self.project.root / ".agent", self.outside, self.home, *more]
        seen = {str(path): _digest(path) for folder in folders for path in sorted([folder, *folder.rglob("*")]) if not path.match("*.lock")}
        seen["victim"] = "dead" if self.victim.poll() is not None else "alive"
        seen |= {name: "reached" if _reached(listener) else "quiet" for name, listener in self.listeners.items()}
        return seen


def _digest(path: Path) -> str:
    try:
        if path.is_symlink():
            return f"link to {path.readlink()}"
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else f"{path.stat().st_mode:o}"
    except OSError:
        return "gone"


def _reached(listener: socket.socket) -> bool:
    try:
        if listener.type == socket.SOCK_DGRAM:
            listener.recv(1)
        else:
            listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


@contextmanager
def world_around(project: Project, settings: SandboxSettings) -> Iterator[World]:
    """A world whose commands run by `settings`."""
    base = project.root.parent
    outside, home = base / "outside", Path(os.environ["HOME"])
    outside.mkdir()
    (outside / "precious").write_text(SECRET)
    with ExitStack() as stack:
        listeners = {name: stack.enter_context(closing(one)) for name, one in _listeners(project.root, outside).items()}
        victim = subprocess.Popen(["sleep", "600"], cwd=outside, env={"TREASURE": SECRET}, start_new_session=True)
        stack.callback(victim.wait)
        stack.callback(victim.kill)
        shells = stack.enter_context(open_shells(discover(project.root), settings))
        world = World(project, outside, home, victim, listeners, shells)
        world.places = {
            "outside": str(outside),
            "home": str(home),
            "secret": SECRET,
            "pid": str(victim.pid),
            "tcp": str(listeners["tcp"].getsockname()[1]),
            "udp": str(listeners["udp"].getsockname()[1]),
            "abstract": listeners["abstract"].getsockname()[1:].decode(),
            "python": shlex.quote(sys.executable),
            "shout": 'echo "E-S-C"-A-P-E-D',
        }
        yield world


def _listeners(tree: Path, outside: Path) -> dict[str, socket.socket]:
    tcp = socket.create_server(("127.0.0.1", 0))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    found = {"tcp": tcp, "udp": udp}
    for name, address in (("file", str(outside / "socket")), ("tree", str(tree / "s.sock")), ("abstract", f"\0agentctl-escape-{os.getpid()}")):
        found[name] = socket.socket(socket.AF_UNIX)
        found[name].bind(address)
        found[name].listen()
    for listener in found.values():
        listener.settimeout(0)
    return found


def python(text: str) -> str:
    """A command that runs Python; `places` are filled in later."""
    prelude = "import ctypes, os, socket, sys\nlibc = ctypes.CDLL(None, use_errno=True)\nshout = lambda: print('E-S-C' + '-A-P-E-D')\n"
    return "{python} -I -S -c " + shlex.quote(prelude + textwrap.dedent(text))


def running(word: str) -> list[str]:
    """Processes that have `word` as an argument."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        found += [entry.name] if word.encode() in words else []
    return found
