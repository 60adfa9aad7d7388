"""The process of a model, as the client sees it: three pipes, and an end. Started or forked here, or forked by one that is warm (agent/model/warm.py)."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NoReturn, Protocol

import agent

# -P and this instead of -m: the folder where agentctl was started, a stranger's repository, must not be on the path of the process that holds the keys.
_BOOT = "import runpy, sys; sys.path.append(sys.argv[1]); runpy.run_module('agent.model.server', run_name='__main__')"


LITELLM, DIRECT = "litellm", "direct"
"""Who makes the calls in the process (agent/model/server.py): the first line that it reads says which."""


class Process(Protocol):
    """A process that reads requests and writes answers; no pipe blocks on this side. `pid` is its group's and session's number too."""

    pid: int
    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]

    def end(self) -> int | None:
        """Kill it with whatever it started, and give its exit status (minus the signal that ended it), None where nobody knows.

        May be called twice.
        """
        ...


class Spawned:
    """A process of our own interpreter, which begins to get ready at once. `first` is the line that it reads before. Raises OSError."""

    def __init__(self, env: Mapping[str, str], first: Mapping[str, Any]) -> None:
        self._popen = subprocess.Popen(  # noqa: S603  # our own interpreter and module
            [sys.executable, "-P", "-c", _BOOT, str(Path(agent.__file__).parent.parent)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=dict(env),
            start_new_session=True,
        )
        assert self._popen.stdin and self._popen.stdout and self._popen.stderr  # noqa: S101, PT018  # all three are pipes
        self.pid = self._popen.pid
        self.stdin, self.stdout, self.stderr = self._popen.stdin, self._popen.stdout, self._popen.stderr
        with suppress(BrokenPipeError):  # it is gone already: reading tells
            self.stdin.write(json.dumps(first).encode() + b"\n")
        unblock(self)

    def end(self) -> int | None:
        if self._popen.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)  # before it is waited for: the number may be another's afterwards
        shut(self)
        return self._popen.wait()


class Parted:
    """A fork of this process, in which `serve` runs: nothing is started and nothing imported twice. Only where `is_alone`. Raises OSError.

    It has our memory, and with it the keys that it is sent anyway, but besides the three pipes no file that is open here, so that no lock stays held.
    """

    def __init__(self, serve: Callable[[], object]) -> None:
        (self.stdin, self.stdout, self.stderr), theirs = three_pipes()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # else one may find the fork with our way of stopping
        try:
            self.pid = os.fork()
            if not self.pid:
                _become(theirs, serve)
        except OSError:
            shut(self)
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            for end in theirs:
                os.close(end)
        self._ended = False
        self._status: int | None = None
        unblock(self)

    def end(self) -> int | None:
        if not self._ended:
            self._ended = True
            for kill in (os.kill, os.killpg):  # both, since it may not lead its group yet
                with suppress(ProcessLookupError, PermissionError):
                    kill(self.pid, signal.SIGKILL)
            with suppress(ChildProcessError):  # whoever started us ignores SIGCHLD
                self._status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        shut(self)
        return self._status


def is_alone() -> bool:
    """Whether a fork would be whole: what another thread holds would be held in it for ever. False where the system can't tell."""
    tasks = Path("/proc/self/task")
    return threading.active_count() == 1 and tasks.is_dir() and len(list(tasks.iterdir())) == 1


def _become(ends: Sequence[int], serve: Callable[[], object]) -> NoReturn:
    """Serve in this fork, as a process that was started would: in a session of its own, ended by the signals that end others."""
    try:
        os.setsid()
        above = [fcntl.fcntl(end, fcntl.F_DUPFD, 3) for end in ends]
        for stream, end in enumerate(above):
            os.dup2(end, stream)
        for opened in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208 - numbers, not files
            if opened > 2:  # noqa: PLR2004 - the three streams
                with suppress(OSError):
                    os.close(opened)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        serve()
    except BaseException:  # noqa: BLE001  # nothing may go on in the fork that was under way here
        traceback.print_exc()
    finally:
        os._exit(1)


def three_pipes() -> tuple[tuple[IO[bytes], IO[bytes], IO[bytes]], tuple[int, int, int]]:
    """Pipes for stdin, stdout and stderr of another process: our ends, and its."""
    stdin, stdout, stderr = (os.pipe() for _ in range(3))
    ours = os.fdopen(stdin[1], "wb", buffering=0), os.fdopen(stdout[0], "rb", buffering=0), os.fdopen(stderr[0], "rb", buffering=0)
    return ours, (stdin[0], stdout[1], stderr[1])


def unblock(process: Process) -> None:
    """Let no read or write of this side wait."""
    for pipe in (process.stdin, process.stdout, process.stderr):
        os.set_blocking(pipe.fileno(), False)


def shut(process: Process) -> None:
    """Close this side's ends."""
    for pipe in (process.stdin, process.stdout, process.stderr):
        with suppress(OSError):
            pipe.close()
