"""The process of a model, as the client sees it: three pipes, and an end. Started here, or forked by one that is warm (agent/model/warm.py)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Protocol

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


def unblock(process: Process) -> None:
    """Let no read or write of this side wait."""
    for pipe in (process.stdin, process.stdout, process.stderr):
        os.set_blocking(pipe.fileno(), False)


def shut(process: Process) -> None:
    """Close this side's ends."""
    for pipe in (process.stdin, process.stdout, process.stderr):
        with suppress(OSError):
            pipe.close()
