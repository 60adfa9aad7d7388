"""The one place that starts the commands of a step: own session, no terminal, no keys, a time limit, and nothing left behind."""

from __future__ import annotations

import os
import re
import secrets
import selectors
import shutil
import signal
import subprocess
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from agent.domain.config import SandboxSettings
from agent.domain.text import left_out
from agent.errors import AgentctlError
from agent.worker.processes import signal_family
from agent.worker.sandbox.cgroup import counted
from agent.worker.sandbox.protocol import Attempt, Confines, Launch, Sandbox
from agent.worker.scratch import scratch_folder

_HEAD = 256 * 1024
_TAIL = 1024 * 1024
_CHUNK = 64 * 1024
_POLL = 0.02
_GRACE = 2.0
_MARK = "_AGENTCTL_MARK"

_NAMES = frozenset(
    """
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME
    _AGENTCTL_HOLDER VIRTUAL_ENV PYTHONPATH PYENV_ROOT PYENV_VERSION CONDA_PREFIX CONDA_DEFAULT_ENV UV_CACHE_DIR PIP_CACHE_DIR PIP_INDEX_URL UV_INDEX_URL
    NVM_DIR NVM_BIN VOLTA_HOME FNM_DIR PNPM_HOME BUN_INSTALL DENO_DIR NODE_PATH NODE_OPTIONS NODE_EXTRA_CA_CERTS
    CARGO_HOME CARGO_TARGET_DIR RUSTUP_HOME RUSTUP_TOOLCHAIN GOPATH GOROOT GOCACHE GOMODCACHE GOPROXY GOFLAGS GOTOOLCHAIN
    JAVA_HOME JDK_HOME M2_HOME MAVEN_HOME GRADLE_HOME GRADLE_USER_HOME KOTLIN_HOME SDKMAN_DIR ANDROID_HOME ANDROID_SDK_ROOT
    DOTNET_ROOT RBENV_ROOT RBENV_VERSION GEM_HOME GEM_PATH BUNDLE_PATH ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR NIX_PATH NIX_PROFILES
    CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LD_LIBRARY_PATH DYLD_LIBRARY_PATH PKG_CONFIG_PATH MAKEFLAGS
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE NIX_SSL_CERT_FILE
    HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
    """.split()  # noqa: SIM905 - as a list it would fill two pages
)
_FIXED = {
    "GIT_TERMINAL_PROMPT": "0",
    # Settings in the environment come last of all: whatever helpers other files name are forgotten, and nobody is asked for a password or a key.
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "credential.helper",
    "GIT_CONFIG_VALUE_0": "",
    "GIT_CONFIG_KEY_1": "core.askPass",
    "GIT_CONFIG_VALUE_1": "",
    "GIT_SSH_COMMAND": "false",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_OPTIONAL_LOCKS": "0",
    "PAGER": "cat",
    "CI": "1",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "PYTHONDONTWRITEBYTECODE": "1",
    "DEBIAN_FRONTEND": "noninteractive",
}
_OFFLINE = re.compile(
    r"could not resolve host|name resolution|name or service not known|nodename nor servname|network is unreachable|getaddrinfo|EAI_AGAIN|ENOTFOUND|"
    r"no route to host|dial tcp: lookup|failed to lookup address|unknown host",
    re.IGNORECASE,
)
_NO_NETWORK = "\n[agentctl: commands have no network; a person can allow it to this one, under `sandbox: network:` in .agent/config.yaml]\n"
_READ_ONLY_GIT = re.compile(r"\.git/.*read-only file system", re.IGNORECASE)
_NO_GIT = "\n[agentctl: commands can't change .git: move and delete files with mv and rm; what you changed is committed when you finish]\n"
_LOGIN_IN_ADDRESS = re.compile(r"://[^/\s]*@")


class Completed(Struct, frozen=True):
    """A command that ended. `code` is its exit code (128 + signal where one killed it), None where the time limit did.

    `output` is stdout and stderr as they came, of a long one its head (256 KiB) and tail (1 MiB); `seconds` is wall time.
    """

    code: int | None
    output: str
    seconds: float
    timed_out: bool


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What a command of a step may know of `environment`: an allow-list, so that no key, token or git location gets through.

    Addresses with a login in them (a proxy's, a package index's) are left out too.
    """
    kept = {name: value for name, value in environment.items() if name in _NAMES or name.startswith("LC_")}
    return {name: value for name, value in kept.items() if not _LOGIN_IN_ADDRESS.search(value)} | _FIXED


def shell_argv(command: str, path: str | None) -> list[str]:
    """The program that runs `command`: bash where `path` has one, since models and people write bash, else sh."""
    return [shutil.which("bash", path=path) or "/bin/sh", "-c", command]


class Shell(Struct, frozen=True):
    """How the commands of a step are run: in `root`, with `env`, inside `sandbox`.

    What they leave in the home folder and in /tmp stays there for the next one where `kept` names a folder; else each begins with empty ones.
    """

    root: Path
    env: Mapping[str, str]
    sandbox: Sandbox
    confines: Confines
    settings: SandboxSettings
    kept: Path | None = None

    @property
    def told(self) -> str:
        """A text that is another one wherever a command could come to another end."""
        return f"{self.sandbox.name} {self.settings}"

    def run(self, command: str, timeout: float) -> Completed:
        """Run `command` as `run_command` does; where it failed for the sandbox's sake its output ends with a line that says what to do."""
        with _scratch(self.kept) as scratch:
            confines = replace(self.confines, scratch=scratch, network=self.settings.may_connect(command))
            done = run_command(command, cwd=self.root, env=self.env, timeout=timeout, inside=(self.sandbox, confines))
        return replace(done, output=f"{done.output}{self._why(done, confines)}")

    def _why(self, done: Completed, confines: Confines) -> str:
        """What to say of a command that failed, if it was for the sandbox's sake."""
        if done.code == 0:
            return ""
        if not confines.network and Attempt.NETWORK not in self.sandbox.gaps and _OFFLINE.search(done.output):
            return _NO_NETWORK
        return _NO_GIT if Attempt.GIT not in self.sandbox.gaps and _READ_ONLY_GIT.search(done.output) else ""


def run_command(command: str, *, cwd: Path, env: Mapping[str, str], timeout: float, inside: tuple[Sandbox, Confines] | None = None) -> Completed:
    """Run `command` in `cwd` for at most `timeout` seconds (and two more for it to end in peace), `inside` a sandbox where one is given.

    It has exactly the variables in `env`, an empty stdin and no terminal. When it returns, whatever it left running has been ended.
    Raises AgentctlError where it can't be started.
    """
    began = time.monotonic()
    mark = secrets.token_hex(12)
    argv, marked = shell_argv(command, env.get("PATH")), {**env, _MARK: mark}
    launch = inside[0].wrap(argv, marked, cwd, inside[1]) if inside else Launch(argv, marked)
    with counted(launch, inside[1].limits.processes if inside else 0) as launch:
        return _ended(launch, cwd, f"{_MARK}={mark}", began, timeout)


def _ended(launch: Launch, cwd: Path, mark: str, began: float, timeout: float) -> Completed:
    reader, writer = os.pipe()
    try:
        process = _start(launch, cwd, writer)
    except BaseException:
        os.close(reader)
        raise
    finally:
        for descriptor in (writer, *launch.inherits):
            os.close(descriptor)
    ends = _Ends()
    os.set_blocking(reader, False)
    try:
        timed_out = not _read_until_exit(process, reader, ends, began + timeout)
    finally:
        end = _end_kept if launch.keeper else _end_all
        end(process, mark, reader, ends)
        os.close(reader)
    return Completed(None if timed_out else _exit_code(process.returncode), ends.text(), round(time.monotonic() - began, 3), timed_out)


def _start(launch: Launch, cwd: Path, output: int) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 - running the step's commands is this module's purpose
            launch.argv,
            cwd=cwd,
            env=launch.env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            pass_fds=launch.inherits,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise AgentctlError(f"The command could not be started: {reason}.", "Put a long command into a script file and run that.") from error


def _exit_code(code: int) -> int:
    return code if code >= 0 else 128 - code


class _Ends:
    """The head and the tail of a stream of bytes, in memory that doesn't grow with it."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._dropped = 0

    def add(self, data: bytes) -> None:
        room = _HEAD - len(self._head)
        self._head += data[:room]
        rest = data[room:] if room < len(data) else b""
        if not rest:
            return
        self._tail.append(rest)
        self._tail_size += len(rest)
        while self._tail_size - len(self._tail[0]) >= _TAIL:
            gone = len(self._tail.popleft())
            self._tail_size -= gone
            self._dropped += gone

    def text(self) -> str:
        """UTF-8 as it is, other bytes in hexadecimal."""
        parts = [bytes(self._head), b"".join(self._tail)]
        if self._dropped:
            parts.insert(1, f"\n{left_out(f'{self._dropped:,} bytes')}\n".encode())
        return b"".join(parts).decode("utf-8", "backslashreplace")


def _read_until_exit(process: subprocess.Popen[bytes], reader: int, ends: _Ends, deadline: float) -> bool:
    """Collect output until the command itself has ended, whoever else still holds the pipe. False where the deadline came first."""
    open_ = True
    while process.poll() is None:
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        if open_:
            open_ = _drain(reader, ends, min(left, _POLL), chunks=64)
            continue
        try:
            process.wait(left)
        except subprocess.TimeoutExpired:
            return False
    return True


def _drain(reader: int, ends: _Ends, wait: float, chunks: int) -> bool:
    """Read what is there, at most `chunks` blocks. False at the end of the stream."""
    with selectors.DefaultSelector() as selector:
        selector.register(reader, selectors.EVENT_READ)
        for _ in range(chunks):
            if not selector.select(wait):
                return True
            wait = 0
            data = os.read(reader, _CHUNK)
            if not data:
                return False
            ends.add(data)
    return True


def _end_all(process: subprocess.Popen[bytes], mark: str, reader: int, ends: _Ends) -> None:
    """End the command and all it started: TERM first, KILL for what is left after two seconds; what they still said is kept."""
    for number, again in ((signal.SIGTERM, 0), (signal.SIGKILL, signal.SIGKILL)):
        until, wait = time.monotonic() + _GRACE, _POLL / 16
        somebody = signal_family(process.pid, mark, number)
        while somebody and time.monotonic() < until:
            if not _drain(reader, ends, wait, chunks=64):
                time.sleep(wait)
            process.poll()
            somebody = signal_family(process.pid, mark, again)
            wait = min(wait * 2, _POLL)
        if not somebody:
            break
    process.poll()
    _drain(reader, ends, 0, chunks=_TAIL // _CHUNK)


def _end_kept(process: subprocess.Popen[bytes], mark: str, reader: int, ends: _Ends) -> None:
    """As `_end_all`, where `process` is a keeper: when it has ended so has all that it kept, and it is asked to last."""
    if process.poll() is None:
        signal_family(process.pid, mark, signal.SIGTERM, spared=process.pid)
        if not _ends_soon(process, reader, ends):
            process.terminate()
        if not _ends_soon(process, reader, ends):
            signal_family(process.pid, mark, signal.SIGKILL)
            _ends_soon(process, reader, ends)
    _drain(reader, ends, 0, chunks=_TAIL // _CHUNK)


def _ends_soon(process: subprocess.Popen[bytes], reader: int, ends: _Ends) -> bool:
    """Wait for its end for two seconds at most, and keep what is still said."""
    return _read_until_exit(process, reader, ends, time.monotonic() + _GRACE)


@contextmanager
def _scratch(kept: Path | None) -> Iterator[Path]:
    """A folder with an empty `home` and `tmp`, gone afterwards; or `kept`."""
    if kept:
        yield kept
        return
    with scratch_folder() as folder:
        yield folder
