"""The process that stays when its step is over: it has litellm loaded and no keys, and forks for each step that comes within some minutes."""

from __future__ import annotations

import hmac
import os
import secrets
import selectors
import signal
import socket
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from msgspec import Struct

from agent.hidden import hide_own_memory
from agent.model.process import is_alone
from agent.model.warm import NONCE, PATIENCE, Warmth, peer, proves


def leave_one_warm(warmth: Warmth, serve: Callable[[], object], channel: Sequence[int]) -> None:
    """Fork the process that stays, and go on. It has its own session, and not the file descriptors of `channel`; `serve` is what its forks do.

    Nothing is forked where threads run.
    """
    if not is_alone():
        return
    if os.fork():
        return
    try:
        for end in channel:
            os.close(end)
        _let_go()
        _Keeper(warmth, serve).stay()
    finally:
        os._exit(0)


def _let_go() -> None:
    """Nothing of the step that started it: no terminal, no folder, no pipe whose reader waits for its end."""
    os.setsid()
    os.chdir("/")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.close(nothing)
    hide_own_memory()


class _Lent(Struct, frozen=True):
    """A fork at work for the client at the other end of `connection`."""

    pid: int
    handle: int
    connection: socket.socket


class _Keeper:
    def __init__(self, warmth: Warmth, serve: Callable[[], object]) -> None:
        self._warmth = warmth
        self._serve = serve
        self._door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._door.bind(warmth.address)  # raises OSError where another is warm already
        self._door.listen(16)
        self._lent: set[_Lent] = set()
        self._waiting = selectors.DefaultSelector()
        self._waiting.register(self._door, selectors.EVENT_READ)
        self._until = time.monotonic() + warmth.seconds

    def stay(self) -> None:
        """Fork for whoever may ask, until nobody has for as long as it stays warm."""
        while self._lent or time.monotonic() < self._until:
            for key, _ in self._waiting.select(None if self._lent else max(0.0, self._until - time.monotonic())):
                if key.data is None:
                    self._meet()
                elif key.data in self._lent:  # not taken back a moment ago
                    self._watch(key.data, ended=key.fd == key.data.handle)

    def _meet(self) -> None:
        connection, _ = self._door.accept()
        connection.settimeout(PATIENCE)
        try:
            pipes = self._pipes_of(connection)
        except OSError:
            pipes = []
        if len(pipes) != 3:  # noqa: PLR2004 - stdin, stdout, stderr
            connection.close()
            return
        lent = self._fork(connection, pipes)
        for pipe in pipes:
            os.close(pipe)
        self._lent.add(lent)
        self._waiting.register(connection, selectors.EVENT_READ, lent)
        self._waiting.register(lent.handle, selectors.EVENT_READ, lent)
        with suppress(OSError):  # who has gone meanwhile is seen to have gone
            socket.send_fds(connection, [struct.pack("i", lent.pid)], [lent.handle])

    def _pipes_of(self, connection: socket.socket) -> list[int]:
        """What the client sends along once both have shown that they know the keys; nothing from anybody else."""
        theirs = connection.recv(NONCE)
        if peer(connection)[1] != os.getuid() or len(theirs) != NONCE:
            return []
        own = secrets.token_bytes(NONCE)
        connection.sendall(own + proves(self._warmth, "server", theirs, own))
        proof, pipes, _, _ = socket.recv_fds(connection, NONCE, 3)
        if hmac.compare_digest(proof, proves(self._warmth, "client", own, theirs)):
            return pipes
        for pipe in pipes:
            os.close(pipe)
        return []

    def _fork(self, connection: socket.socket, pipes: Sequence[int]) -> _Lent:
        pid = os.fork()
        if pid:
            return _Lent(pid, os.pidfd_open(pid), connection)
        try:
            os.setsid()
            for stream, pipe in enumerate(pipes):
                os.dup2(pipe, stream)
            others = [number for lent in self._lent for number in (lent.handle, lent.connection.fileno())]
            for number in (*pipes, *others, connection.fileno(), self._door.fileno()):
                os.close(number)
            hide_own_memory()
            self._serve()
        finally:
            os._exit(1)

    def _watch(self, lent: _Lent, *, ended: bool) -> None:
        """Tell the client how its process ended; clear away when the client has gone, whatever the process is at."""
        if not ended:
            self._take_back(lent)
            return
        self._waiting.unregister(lent.handle)
        result = os.waitid(os.P_PID, lent.pid, os.WEXITED | os.WNOWAIT)  # not reaped before the client has gone: the number stays its own
        if result is not None:
            status = result.si_status if result.si_code == os.CLD_EXITED else -result.si_status
            with suppress(OSError):
                lent.connection.send(struct.pack("i", status))

    def _take_back(self, lent: _Lent) -> None:
        self._lent.remove(lent)
        for registered in (lent.connection, lent.handle):
            with suppress(KeyError):
                self._waiting.unregister(registered)
        for kill in (os.kill, os.killpg):  # both, since it may not lead its group yet
            with suppress(ProcessLookupError, PermissionError):
                kill(lent.pid, signal.SIGKILL)
        os.waitpid(lent.pid, 0)
        os.close(lent.handle)
        lent.connection.close()
        self._until = time.monotonic() + self._warmth.seconds
