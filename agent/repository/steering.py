"""What steers git in a repository beside its commits: files of the git directory, settings, marks that hide files. A command of a step changes none of it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from agent.domain.text import first_of
from agent.durable import read_own, write_whole
from agent.errors import AgentctlError
from agent.repository.repo import Repo

# Where the work tree is, which files git looks at and how, and where it finds more of such; what starts programs wants a person's approval anyway.
_SETTING = re.compile(r"(?:core|extensions)\..*", re.IGNORECASE | re.DOTALL)
_SPARSE = "info/sparse-checkout"


class Steering:
    """Looks at it `before` a command runs, and `after`."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
        self._files: Mapping[str, bytes | None] = {}
        self._index: object = None
        self._hidden: frozenset[str] = frozenset()

    def before(self) -> None:
        """Take it for what is meant."""
        self._files = self._found()
        if self._repo.index_state() != self._index:
            self._hidden = self._repo.hidden()
            self._index = self._repo.index_state()

    def after(self) -> None:
        """Let git look again at files that were hidden from it meanwhile, and put back what says where the repository lies.

        Raises AgentctlError, once, where anything but marks was changed. Whoever wasn't there before (a later process) can't tell.
        """
        if not self._files:
            return
        was, now = self._files, self._found()
        for path in self._gits_own():
            if now[str(path)] != was.get(str(path)):
                _put_back(path, was.get(str(path)))
        changed = [name for name in now if now[name] != was.get(name)]
        self._files = self._found()
        if self._repo.index_state() != self._index and not any(name.endswith(_SPARSE) for name in changed):
            self._repo.show(self._repo.hidden() - self._hidden)
            self._index = self._repo.index_state()
        if changed:
            raise AgentctlError(
                f"while a command ran, what steers git here was changed: {first_of(changed, 3, 200)}",
                "look at it, and put it back if it wasn't you; then try again",
            )

    def _gits_own(self) -> list[Path]:
        """The files that say where the repository lies, which nobody writes while a step is at work."""
        return [self._repo.top / ".git", self._repo.git_dir / "commondir", self._repo.common_dir / "objects" / "info" / "alternates"]

    def _found(self) -> dict[str, bytes | None]:
        repo = self._repo
        shared = ("info/attributes", "info/exclude")
        places = [*self._gits_own(), repo.git_dir / _SPARSE, *(repo.common_dir / name for name in shared)]
        settings = "\n".join(sorted(f"{key}={value}" for key, value in repo.programs.own_settings() if _SETTING.fullmatch(key)))
        return {**{str(path): _bytes(path) for path in places}, "settings of the repository (git config)": os.fsencode(settings)}


def _put_back(path: Path, held: bytes | None) -> None:
    if held is None:
        path.unlink(missing_ok=True)
    else:
        write_whole(path, held)


def _bytes(path: Path) -> bytes | None:
    try:
        return read_own(path)
    except OSError:
        return None
