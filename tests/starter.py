"""Starts agentctl as a process of its own for a third of what Python and its imports cost: one interpreter has imported all of it, and forks.

Whoever starts doesn't import agentctl; the interpreter, `python -m tests.starter FD`, does. Each process leads a session of its own, as after `setsid`.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

SOURCE = Path(__file__).parent.parent
_REQUEST = 1_000_000  # bytes of one at most
_FOLLOWED = 0.02  # seconds from when strace holds a process until it sees each of its calls
_PR_SET_PTRACER, _ANYBODY = 0x59616D61, ctypes.c_ulong(-1)  # prctl(2); where Yama is, strace may else follow only what it has started


class Started:
    """A process that was started. Its output is in files, so that nobody waits for what it had started in turn."""

    def __init__(self, pid: int, told: socket.socket, out: IO[bytes], err: IO[bytes]) -> None:
        self.pid = pid
        self._told, self._out, self._err = told, out, err

    def wait(self, timeout: float) -> int:
        """How it ended, as `subprocess` has it. Raises TimeoutExpired after `timeout` seconds."""
        if not select.select([self._told], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        return int(self._told.recv(32))

    def kill(self) -> None:
        """End its whole process group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def printed(self) -> tuple[str, str]:
        """What it has written to stdout and stderr; for once, when it has ended."""
        with self._told, self._out, self._err:
            return _read(self._out), _read(self._err)

    def ended(self, timeout: float) -> tuple[int, str, str]:
        """How it ended, and what it has printed. Raises TimeoutExpired after `timeout` seconds, and ends it then."""
        try:
            code = self.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        return code, *self.printed()


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


class Starter:
    """The interpreter; it ends with this process."""

    def __init__(self) -> None:
        self._link, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            self._interpreter = subprocess.Popen(
                [sys.executable, "-m", "tests.starter", str(its.fileno())],
                cwd=SOURCE,
                env={**os.environ, "PYTHONHASHSEED": "0"},
                pass_fds=[its.fileno()],
                stdin=subprocess.DEVNULL,
            )

    def start(self, args: Sequence[str], cwd: Path, environment: Mapping[str, str], stdin: bytes = b"", *, followed: bool = False) -> Started:
        """Start `agentctl ARGS…`; one that is to be `followed` begins when strace holds it."""
        told, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        asked = {"args": list(args), "cwd": str(cwd), "environment": dict(environment), "followed": followed}
        out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - `printed` closes them
        with its, tempfile.TemporaryFile() as given:
            given.write(stdin)
            given.seek(0)
            socket.send_fds(self._link, [json.dumps(asked).encode()], [one.fileno() for one in (its, given, out, err)])
        return Started(int(told.recv(32)), told, out, err)

    def close(self) -> None:
        """End the interpreter; what it has started goes on."""
        self._link.close()
        self._interpreter.wait()


@functools.cache
def starter() -> Starter:
    """The one of this process."""
    made = Starter()
    atexit.register(made.close)
    return made


# --- the interpreter ----------------------------------------------------------------------------------------------


def _serve(link: socket.socket) -> None:
    """Fork for each request: once for the one that waits, and there for agentctl."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that wait
    while True:
        asked, files, _, _ = socket.recv_fds(link, _REQUEST, 4)
        if not asked:
            return
        if os.fork() == 0:
            link.close()
            _wait_for(json.loads(asked), files)
        for file in files:
            os.close(file)


def _wait_for(asked: Mapping[str, Any], files: Sequence[int]) -> NoReturn:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        _become(asked, files[1:])
    with socket.socket(fileno=files[0]) as told, contextlib.suppress(BrokenPipeError):
        told.send(str(pid).encode())
        told.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())
    os._exit(0)


def _become(asked: Mapping[str, Any], files: Sequence[int]) -> NoReturn:
    """Be agentctl, in all that a new process would have of its own."""
    os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.closerange(3, 256)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv = ["agentctl", *asked["args"]]
    if asked["followed"]:
        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, _ANYBODY, 0, 0, 0)
        while b"\nTracerPid:\t0\n" in Path("/proc/self/status").read_bytes():
            time.sleep(0.001)
        time.sleep(_FOLLOWED)
    importlib.import_module("agent.cli.main").main()
    raise AssertionError("agentctl came back")


def _main() -> None:
    for module in pkgutil.walk_packages(importlib.import_module("agent").__path__, "agent."):
        importlib.import_module(module.name)
    gc.freeze()
    _serve(socket.socket(fileno=int(sys.argv[1])))


if __name__ == "__main__":
    _main()
