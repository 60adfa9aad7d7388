"""What a person has approved to run for one clone on this machine: kept in their own state folder, outside of every repository."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

from agent.durable import alone, read_own, write_whole
from agent.errors import AgentctlError
from agent.places import state_folder

VARIABLE = "AGENTCTL_TRUST"
_ALL = "yes"
_CLONE = "clone"


class Approvals:
    """The approvals for the clone whose git directory (shared by its work trees) is `common_dir`, with the work tree `top`.

    An approval is the digest of what runs. It holds for this clone: its place, and a word in its git directory that a copy elsewhere or a new
    clone in its place doesn't share. AGENTCTL_TRUST=yes in `environment` approves whatever the repository names, for as long as it is set.
    """

    def __init__(self, common_dir: Path, top: Path, environment: Mapping[str, str]) -> None:
        self._common = common_dir
        self._top = top
        self._environment = environment

    def lacking(self, digests: Iterable[str]) -> frozenset[str]:
        """Those of `digests` that are not approved. Raises AgentctlError where AGENTCTL_TRUST says what it can't."""
        said = self._environment.get(VARIABLE, "")
        if said not in ("", _ALL):
            raise AgentctlError(f"{VARIABLE} wants {_ALL} or nothing", f"export {VARIABLE}={_ALL}, or: unset {VARIABLE}")
        wanted = frozenset(digests)
        return frozenset() if said or not wanted else wanted - self._stored()

    def add(self, digests: Iterable[str]) -> None:
        """Approve `digests` from now on. Raises AgentctlError where that can't be kept."""
        if not self.lacking(digests := frozenset(digests)):
            return
        file = self._file()
        if file is None:
            raise AgentctlError("there is no home folder to keep an approval in", "set XDG_STATE_HOME to a folder of yours")
        if file.is_relative_to(os.path.realpath(self._top)):
            raise AgentctlError(
                f"{file.parent} lies inside the repository, where steps could approve for you", "set XDG_STATE_HOME to a folder outside of it"
            )
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.parent.chmod(0o700)
        with alone(file.with_suffix(".lock")):
            known = self._stored()
            stored = {"repository": str(self._common), "clone": self._clone() or self._mark(), "approved": sorted(known | digests)}
            write_whole(file, json.dumps(stored, indent=1).encode("utf-8", "surrogateescape") + b"\n")

    def forget(self) -> None:
        """Take all approvals for this clone back."""
        if file := self._file():
            file.unlink(missing_ok=True)

    def _file(self) -> Path | None:
        folder = state_folder(self._environment)
        if folder is None:
            return None
        place = os.fsencode(os.path.realpath(self._common))
        return Path(os.path.realpath(folder.parent), folder.name, "trust", f"{hashlib.sha256(place).hexdigest()[:32]}.json")

    def _stored(self) -> frozenset[str]:
        """What is approved; nothing where the file is damaged, another clone's, or in the reach of steps."""
        file = self._file()
        if file is None or file.is_relative_to(os.path.realpath(self._top)):
            return frozenset()
        try:
            stored = json.loads(read_own(file))
            mine = bool(stored["clone"]) and stored["clone"] == self._clone()
            return frozenset(map(str, stored["approved"])) if mine else frozenset()
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return frozenset()

    def _clone(self) -> str:
        """The word of this clone, "" where it has none."""
        try:
            return read_own(self._common / "agentctl" / _CLONE).decode("ascii").strip()
        except (OSError, ValueError):
            return ""

    def _mark(self) -> str:
        word = secrets.token_hex(16)
        write_whole(self._common / "agentctl" / _CLONE, f"{word}\n".encode())
        return word
