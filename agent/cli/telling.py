"""Who is told of what happens during a step: the person at the terminal, whoever asks for the status, a service manager."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from agent.domain.events import Listener, all_of
from agent.heartbeat import beating
from agent.render.progress import watching
from agent.repository.repo import Repo


@contextlib.contextmanager
def telling(repo: Repo) -> Iterator[Listener]:
    """A listener for all that happens in `repo` while the block lasts."""
    with watching(sys.stderr) as show, beating(repo.private, os.environ) as beat:
        yield all_of(beat, show)
