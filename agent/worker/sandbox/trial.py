"""Whether a sandbox holds on this machine: tried, with a command that does what it must not be able to do."""

from __future__ import annotations

import os
import shlex
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path

from msgspec import Struct

from agent.domain.config import SandboxSettings
from agent.domain.text import one_line
from agent.worker.sandbox import attempts
from agent.worker.sandbox.confines import confine
from agent.worker.sandbox.protocol import Attempt, Sandbox
from agent.worker.scratch import passing_folder
from agent.worker.shell import Shell, clean_environment

_TIMEOUT = 30.0  # seconds
_LONG = 64  # bytes
_FEW = 60
_MANY = f"""
import _thread, os
lock = _thread.allocate_lock()
lock.acquire()
try:
    for _ in range({_FEW}):
        _thread.start_new_thread(lock.acquire, ())
except RuntimeError:
    os.write(1, b"limited")
os._exit(0)
"""


class Trial(Struct, frozen=True):
    """What came of the attempts: those that succeeded, or why they couldn't be made at all (`trouble`)."""

    open: frozenset[Attempt]
    trouble: str = ""

    @property
    def held(self) -> tuple[Attempt, ...]:
        """What the sandbox kept the command from."""
        return () if self.trouble else tuple(attempt for attempt in Attempt if attempt not in self.open)


def failing(sandbox: Sandbox, trial: Trial) -> str:
    """What keeps `sandbox` from being trusted, "" where it does all that it claims to."""
    if trial.trouble:
        return trial.trouble
    surprising = [attempt for attempt in Attempt if attempt in trial.open and attempt not in sandbox.gaps]
    return f"inside it a command could {', '.join(surprising)}" if surprising else ""


def try_out(sandbox: Sandbox) -> Trial:
    """Run the attempts inside `sandbox`. One that isn't reported counts as trouble: a sandbox is trusted for what was seen."""
    with passing_folder(_near()) as place, _listening(place) as told:
        tree = place / "tree"
        environment = {**os.environ, "HOME": str(place / "home")}
        confines = confine(tree, [tree / ".git", tree / ".agent"], place / "scratch", SandboxSettings(), environment)
        shell = Shell(tree, {**clean_environment(environment), "TRIED": place.name}, sandbox, confines, SandboxSettings())
        text = Path(attempts.__file__).read_text("utf-8")
        done = shell.run(shlex.join(["exec", sys.executable, "-I", "-S", "-B", "-c", text, *chain.from_iterable(told.items())]), _TIMEOUT)
        written = Path(told["outside"]).exists()  # one that went into a /tmp of the command's own is none
    said = [line.split(" ") for line in done.output.splitlines()]
    seen = {Attempt[words[0]]: words[1] for words in said if len(words) > 1 and words[0] in Attempt.__members__ and words[1] in ("held", "open")}
    if len(seen) < len(Attempt):
        return Trial(frozenset(), one_line(done.output.strip() or f"it ended with exit code {done.code} and said nothing", 300))
    return Trial(frozenset(attempt for attempt, how in seen.items() if how == "open" and (written or attempt is not Attempt.WRITE)))


def limits_processes(sandbox: Sandbox) -> bool:
    """Whether a command inside `sandbox` is refused more processes than its limit: tried, with a small one."""
    with passing_folder(_near()) as place:
        for name in ("tree", "scratch/home", "scratch/tmp"):
            (place / name).mkdir(parents=True)
        settings = SandboxSettings(processes=_FEW)
        environment = {**os.environ, "HOME": str(place / "home")}
        confines = confine(place / "tree", (), place / "scratch", settings, environment)
        shell = Shell(place / "tree", clean_environment(environment), sandbox, confines, settings)
        done = shell.run(shlex.join(["exec", sys.executable, "-I", "-S", "-B", "-c", _MANY]), _TIMEOUT)
    return "limited" in done.output


def _near() -> Path:
    """The folder for temporary files, or one whose path leaves room for that of a socket, which may have 107 bytes in all (unix(7))."""
    usual = Path(tempfile.gettempdir()).resolve()
    return usual if len(os.fsencode(usual)) < _LONG else Path("/tmp")  # noqa: S108 - in it comes a folder of our own


@contextmanager
def _listening(place: Path) -> Iterator[Mapping[str, str]]:
    """What to reach for: files in `place`, this process, and a listener of each kind."""
    for name in ("tree/.git", "tree/.agent", "home", "scratch"):
        (place / name).mkdir(parents=True)
    for name in ("home/secret", "decoy"):
        (place / name).write_bytes(b"a secret\n")
    with closing(socket.create_server(("127.0.0.1", 0))) as tcp, closing(socket.socket(socket.AF_UNIX)) as file:
        file.bind(str(place / "tree" / "socket"))
        file.listen()
        yield {
            "outside": str(place / "written"),
            "git": str(place / "tree" / ".git" / "config"),
            "agent": str(place / "tree" / ".agent" / "config.yaml"),
            "secret": str(place / "home" / "secret"),
            "temp": str(place / "decoy"),
            "port": str(tcp.getsockname()[1]),
            "socket": str(place / "tree" / "socket"),
            "pid": str(os.getpid()),
            "started": _started(),
            "mark": f"TRIED={place.name}",
        }


def _started() -> str:
    """When this process began, as proc(5) tells it; "" where there is no /proc."""
    try:
        return Path("/proc/self/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19]
    except OSError:
        return ""
