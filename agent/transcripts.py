"""The conversations of steps: kept nowhere, in the git directory, or encrypted in the commit, as the config says."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from agent.domain.config import Config
from agent.domain.names import StepId
from agent.domain.shape import parsed
from agent.durable import opened, read_own
from agent.errors import AgentctlError
from agent.model.protocol import Model
from agent.model.transcribed import TranscribedModel

Line = Mapping[str, Any]
"""One thing that was said: `time`, `kind` (`message`, `reply` or `error`), `text`, and what that kind has besides."""

_MISSING = "pip install 'agentctl-git[age]'"
_OPENSSH = "-----BEGIN"


class Transcript(Protocol):
    """Where one session's conversation goes."""

    def of(self, model: Model) -> Model:
        """`model`, whose conversation is kept from now on."""
        ...

    def files(self) -> tuple[tuple[str, str], ...]:
        """What is to land with the session's note: path inside `.agent/`, text."""
        ...


def open_transcript(config: Config, folder: Path, step: StepId) -> Transcript:
    """Where the conversation of `step` goes, by `config.transcripts`; `folder` is the repository's own in the git directory.

    Raises AgentctlError where it could not be kept: before anything was said.
    """
    return _KINDS[config.transcripts](config, folder, step)


def check_keeping(config: Config) -> None:
    """Raise AgentctlError where conversations are to be encrypted, but can't be."""
    if config.transcripts == "encrypted":
        _recipients(config)


class _Off:
    def __init__(self, config: Config, folder: Path, step: StepId) -> None: ...

    def of(self, model: Model) -> Model:
        return model

    def files(self) -> tuple[tuple[str, str], ...]:
        return ()


class _Local:
    """Written as it is said, so that a process that dies leaves what was said so far; for nobody else to read."""

    def __init__(self, config: Config, folder: Path, step: StepId) -> None:
        del config
        self._path = _local(folder, step)
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._append(b"")
        except OSError as error:
            raise AgentctlError(
                f"the transcript can't be written: {error.strerror}: {self._path}", "make the folder writable, or set transcripts: off"
            ) from None

    def of(self, model: Model) -> Model:
        return TranscribedModel(model, lambda lines: self._append(_bytes(lines)))

    def files(self) -> tuple[tuple[str, str], ...]:
        return ()

    def _append(self, data: bytes) -> None:
        handle = opened(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(data)


class _Encrypted:
    """Kept in memory alone until it is encrypted: a process that dies takes it along."""

    def __init__(self, config: Config, folder: Path, step: StepId) -> None:
        del folder
        self._step = step
        self._recipients = _recipients(config)
        self._said: list[Line] = []

    def of(self, model: Model) -> Model:
        return TranscribedModel(model, self._said.extend)

    def files(self) -> tuple[tuple[str, str], ...]:
        packed = gzip.compress(_bytes(self._said), mtime=0)
        return ((committed_path(self._step), _age().encrypt(packed, self._recipients, armored=True).decode("ascii")),)


_KINDS: Mapping[str, Callable[[Config, Path, StepId], Transcript]] = {"off": _Off, "local": _Local, "encrypted": _Encrypted}


def _local(folder: Path, step: StepId) -> Path:
    return folder / "transcripts" / f"{step}.jsonl"


def _bytes(lines: Sequence[Line]) -> bytes:
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()


def _age() -> Any:
    try:
        import pyrage  # noqa: PLC0415 - an extra: only who encrypts needs it
    except ImportError:
        raise AgentctlError("transcripts can't be encrypted or read here: pyrage isn't installed", _MISSING) from None
    return pyrage


def _recipients(config: Config) -> list[Any]:
    return [_recipient(text) for text in config.recipients]


def _recipient(text: str) -> Any:
    age = _age()
    kind = age.ssh if text.startswith("ssh-") else age.x25519
    try:
        return kind.Recipient.from_str(text)
    except age.RecipientError as error:
        raise AgentctlError(
            f"{text[:24]}… is no age recipient: {error}",
            "mend recipients: in .agent/config.yaml (age-keygen, or an ssh-ed25519 or ssh-rsa public key), and commit",
        ) from None


def read_local(folder: Path, step: StepId) -> list[Line] | None:
    """The conversation of `step` as the git directory has it, without a line that a crash tore; None where it has none."""
    try:
        data = read_own(_local(folder, step))
    except OSError:
        return None
    return _lines(data)


def committed_path(step: StepId) -> str:
    """Where the encrypted conversation of `step` lies inside `.agent/`."""
    return f"transcripts/{step}.age"


def decrypt(data: bytes, identity: Path) -> list[Line]:
    """The conversation that `data`, a committed file, holds, by the age or SSH key in the file `identity`. Raises AgentctlError."""
    age = _age()
    try:
        text = identity.read_text("utf-8")
        keys = _identities(age, text)
    except FileNotFoundError:
        raise AgentctlError(
            f"there is no identity to read it with: {identity}", "agentctl transcript STEP --identity FILE, with your age or SSH key"
        ) from None
    except (OSError, UnicodeDecodeError, age.IdentityError) as error:
        raise AgentctlError(
            f"{identity} can't be read as an age identity or an unencrypted SSH key: {error}", "name another with --identity FILE"
        ) from None
    try:
        return _lines(gzip.decompress(age.decrypt(data, keys)))
    except (age.DecryptError, OSError, EOFError) as error:
        raise AgentctlError(
            f"the transcript can't be decrypted with {identity}: {error}", "name the key of one of its recipients with --identity FILE"
        ) from None


def _identities(age: Any, text: str) -> list[Any]:
    if text.lstrip().startswith(_OPENSSH):
        return [age.ssh.Identity.from_buffer(text.encode())]
    return [age.x25519.Identity.from_str(line.strip()) for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _lines(data: bytes) -> list[Line]:
    found: list[Line] = []
    for line in data.splitlines():
        try:
            told = parsed(line)
        except ValueError:
            continue
        if isinstance(told, dict):
            found.append(told)
    return found
