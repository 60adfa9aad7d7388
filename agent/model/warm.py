"""How a process that has litellm loaded already is found and asked to fork (see docs/decisions/model-start.md)."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import os
import secrets
import select
import signal
import socket
import struct
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

import agent
from agent.domain.keys import KEY_ENV, speaks_of_a_key
from agent.domain.redact import redact
from agent.errors import AgentctlError
from agent.model.price import litellm_folder
from agent.model.process import shut, three_pipes, unblock

MINUTES = "AGENTCTL_WARM"
"""The variable that says for how many minutes after its last use a process stays warm; 0: none is kept."""

DEFAULT_MINUTES = 5.0

NONCE = 32  # bytes of chance that each side sends
PATIENCE = 2.0  # seconds that either side waits for the other's next word, a matter of milliseconds
_GONE = 5.0  # seconds that a killed process may take to be gone
_FAMILY = "agentctl-model"

# What differs from one terminal, login or command to the next and has no say in how models are reached.
_PASSING = frozenset(
    """
    _ COLORTERM COLUMNS DBUS_SESSION_BUS_ADDRESS DISPLAY GPG_TTY INVOCATION_ID ITERM_SESSION_ID JOURNAL_STREAM LINES LS_COLORS MAIL MANAGERPID
    OLDPWD PS1 PWD SHLVL SSH_AGENT_PID SSH_AUTH_SOCK SSH_CLIENT SSH_CONNECTION SSH_TTY STY TERM TERM_SESSION_ID TMUX TMUX_PANE
    VTE_VERSION WAYLAND_DISPLAY WINDOWID XDG_SEAT XDG_SESSION_ID XDG_SESSION_TYPE XDG_VTNR
    """.split()  # noqa: SIM905 - as a list it would fill a page
)


class Warmth(Struct, frozen=True):
    """Where a warm process listens (an abstract socket, so that nothing is left on a disk), for how many seconds, and what both sides prove to know.

    `proof` is a digest of the person's keys: the process that stays has no key, and who has none of them gets nothing from it.
    """

    name: str
    seconds: float
    proof: str

    @property
    def address(self) -> bytes:
        """The name as `bind` and `connect` want it."""
        return b"\0" + self.name.encode()


def warmth_for(environment: Mapping[str, str]) -> Warmth | None:
    """The warm process for `environment` and for what is installed now; None where none is wanted, or the system can't.

    Raises AgentctlError where AGENTCTL_WARM is no number of minutes.
    """
    seconds = _seconds(environment.get(MINUTES, ""))
    if not seconds or sys.platform != "linux":
        return None
    lasting, keys = apart(environment)
    try:
        installed = _installed()
    except OSError:
        return None
    digest = _digest([*installed, sorted(lasting.items())])[:32]
    return Warmth(f"{_family()}{digest}", seconds, _digest(sorted(keys.items())))


def _family() -> str:
    """How the names of this person's warm processes begin."""
    return f"{_FAMILY}-{os.getuid()}-"


def apart(environment: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The variables that litellm is loaded with, and those that hold a key or may: by name, by what a key looks like, or with a login in an address.

    Neither has what passes with a terminal or a command, nor our own: whoever carries a step's mark is ended with it (agent/lock.py).
    """
    named = environment.get(KEY_ENV, "")
    keys = {name: value for name, value in environment.items() if name == named or speaks_of_a_key(name) or redact(value, {}) != value}
    passing = {name for name in environment if name in _PASSING or name.startswith(("AGENTCTL_", "_AGENTCTL_"))} - {named}
    lasting = {name: value for name, value in environment.items() if name not in keys and name not in passing}
    return lasting, {name: value for name, value in keys.items() if name not in passing}


def proves(warmth: Warmth, side: str, asked: bytes, given: bytes) -> bytes:
    """What `side` answers to the other's nonce `asked`, with its own nonce `given`."""
    return hmac.digest(bytes.fromhex(warmth.proof), side.encode() + asked + given, "sha256")


def peer(connection: socket.socket) -> tuple[int, int]:
    """Process and user at the other end: of a client who connected, of a server who listened (unix(7))."""
    pid, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return pid, uid


def fork_from(warmth: Warmth) -> Forked | None:
    """A process forked by the one that is warm; None where there is none, or not one of ours that answers. Takes milliseconds."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        connection.settimeout(PATIENCE)
        connection.connect(warmth.address)
        if peer(connection)[1] == os.getuid():
            own = secrets.token_bytes(NONCE)
            connection.sendall(own)
            answer = connection.recv(2 * NONCE)
            theirs, proof = answer[:NONCE], answer[NONCE:]
            if hmac.compare_digest(proof, proves(warmth, "server", own, theirs)):
                return Forked(connection, proves(warmth, "client", theirs, own))
    except OSError:
        pass
    connection.close()
    return None


class Forked:
    """A process that the warm one forked for us. Our end of `connection` is its life: when it closes, the warm one kills what is left."""

    def __init__(self, connection: socket.socket, proof: bytes) -> None:
        self._connection = connection
        (self.stdin, self.stdout, self.stderr), theirs = three_pipes()
        try:
            socket.send_fds(connection, [proof], theirs)
            told, handles, _, _ = socket.recv_fds(connection, 4, 1)
            if not handles:
                raise ConnectionError("it doesn't fork")
        except OSError:
            shut(self)
            raise
        finally:
            for end in theirs:
                os.close(end)
        (self.pid,) = struct.unpack("i", told)
        self._handle: int = handles[0]
        self._status: int | None = None
        unblock(self)

    def end(self) -> int | None:
        if self._handle < 0:
            return self._status
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)
        select.select([self._handle], [], [], _GONE)
        with suppress(OSError, struct.error):
            (self._status,) = struct.unpack("i", self._connection.recv(4))
        self._connection.close()
        os.close(self._handle)
        self._handle = -1
        shut(self)
        return self._status


def warm_processes() -> list[int]:
    """The process ids of those that this person has, whatever they are warm for."""
    start = f" @{_family()}"
    try:
        lines = Path("/proc/net/unix").read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    names = {line.rpartition(" @")[2] for line in lines if start in line}
    return sorted({pid for name in names if (pid := _listener(name))})


def _listener(name: str) -> int | None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.settimeout(PATIENCE)
        try:
            connection.connect(b"\0" + name.encode())
        except OSError:
            return None
        pid, uid = peer(connection)
        return pid if uid == os.getuid() else None


def _seconds(told: str) -> float:
    try:
        minutes = float(told) if told else DEFAULT_MINUTES
    except ValueError:
        minutes = -1.0
    if not 0 <= minutes < math.inf:
        raise AgentctlError(
            f"{MINUTES} is {told!r}, which is no number of minutes", f"unset it, or: export {MINUTES}={DEFAULT_MINUTES:g} (0: none is kept)"
        )
    return minutes * 60


def _installed() -> list[Any]:
    """What a process that was started before an upgrade, or in another container, differs in."""
    own = Path(agent.__file__).parent
    folder = litellm_folder()
    rooms = [file for room in ("model", "domain") for file in sorted((own / room).glob("*.py"))]
    files = [*rooms, own, Path(sys.executable), *([folder, folder.parent] if folder else [])]
    namespaces = [os.readlink(f"/proc/self/ns/{kind}") for kind in ("mnt", "net", "pid", "user")]  # noqa: PTH115 - magic links
    return [sys.executable, sys.version, namespaces, [(str(file), file.stat().st_mtime_ns) for file in files]]


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
