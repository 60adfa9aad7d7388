"""What trials came to, kept from one command to the next: a step needn't try again what was tried this morning on the same machine."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from agent.cache import keep, kept
from agent.worker.sandbox.choice import tried
from agent.worker.sandbox.inside import is_below
from agent.worker.sandbox.protocol import Attempt, Sandbox
from agent.worker.sandbox.situation import situation
from agent.worker.sandbox.trial import Trial, failing

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Findings:
    """Findings in `folder`; in this process alone where that is None or lies where commands can write, which is in `writable`.

    Only what held is kept, for exactly the situation that it held in; a mechanism that stopped working is seen by the next command, which fails.
    """

    def __init__(self, folder: Path | None, writable: Iterable[Path]) -> None:
        real = Path(os.path.realpath(folder)) if folder else None
        self._folder = None if real is None or any(is_below(real, (one,)) or is_below(one, (real,)) for one in writable) else real

    def trial(self, sandbox: Sandbox) -> Trial:
        """What is known of `sandbox` here, or else what comes of trying it now."""
        here = situation(sandbox) if self._folder else ""
        if self._folder is None or not here:
            return tried(sandbox.name)
        file = self._folder / f"{sandbox.name}.json"
        known = _known(file, here)
        if known is None:
            known = tried(sandbox.name, here)
            if not failing(sandbox, known) and situation(sandbox) == here:
                with suppress(OSError):  # where nothing can be kept, each step tries anew
                    self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                    keep(file, {"situation": here, "open": sorted(attempt.name for attempt in known.open)})
        return known

    def anew(self, sandbox: Sandbox) -> Trial:
        """What comes of trying `sandbox` now; where it doesn't hold, nothing says any more that it did."""
        trial = tried(sandbox.name)
        if self._folder and failing(sandbox, trial):
            with suppress(OSError):
                (self._folder / f"{sandbox.name}.json").unlink()
        return trial


def _known(file: Path, here: str) -> Trial | None:
    """What `file` says of this very situation; None where it is another's, damaged, or somebody else could have written it."""
    try:
        private = all(told.st_uid == os.geteuid() and not told.st_mode & _OTHERS_WRITE for told in (file.parent.lstat(), file.lstat()))
    except OSError:
        return None
    try:
        stored: Any = kept(file) if private else None
        return Trial(frozenset(Attempt[name] for name in stored["open"])) if stored["situation"] == here else None
    except (TypeError, KeyError, ValueError, RecursionError):
        return None
