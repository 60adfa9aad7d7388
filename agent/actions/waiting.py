"""What `run --wait` does when there is nothing to do: look whether a person, or a pull, has changed that. It holds no lock meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

from agent.domain.events import Called, Event, Idle, Listener, Looked, StepBegan
from agent.errors import AgentctlError, Exit
from agent.ledger import CapError
from agent.model.errors import ModelError
from agent.repository.programs import Untrusted
from agent.repository.repo import Repo
from agent.repository.watch import Watch

PAUSE = 2.0
"""Seconds between two looks at a few files of git."""

AGAIN = 15.0
"""Seconds until a step is tried again that was refused before a model was asked: for a dirty tree, say, or another agentctl at work."""

_NOTHING_TO_DO = (Exit.NOTHING_LEFT, Exit.PERSON_NEEDED)
_REFUSED = (Exit.ERROR, Exit.UNAVAILABLE)


class Waiter:
    """Waits after a step that couldn't be taken, until `until` at most, and tells `listen` once what for. It must `hear` what happens in steps."""

    def __init__(
        self, repo: Repo, listen: Listener, *, until: datetime | None, now: Callable[[], datetime], sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._repo = repo
        self._listen = listen
        self._until = until
        self._now = now
        self._sleep = sleep
        self._head: str | None = None
        self._asked = False
        self._said = ""

    def hear(self, event: Event) -> None:
        """What happens in a step."""
        if isinstance(event, StepBegan):
            self._said = ""
        self._asked = self._asked or isinstance(event, Called)

    def begin(self) -> None:
        """A step is about to be taken."""
        self._head = self._repo.head()
        self._asked = False

    def wait(self, stop: AgentctlError) -> bool:
        """Wait until what kept the step from being taken may have changed; False, at once, where no commit would change it.

        A list that is worked off, a blocked item or a question wait for another commit at HEAD. A step that was refused before a model was
        asked is also tried again every `AGAIN` seconds, since its mend may be none that a commit tells of. A cap for a day that was met waits
        for the next day too.
        """
        refused = (stop.code in _REFUSED or isinstance(stop, Untrusted)) and not self._asked
        until = stop.until if isinstance(stop, CapError) else None
        if isinstance(stop, ModelError) or not (refused or until or stop.code in _NOTHING_TO_DO):
            return False
        if stop.message != self._said:
            self._said = stop.message
            self._listen(Idle(stop.message, stop.hint))
        watch = Watch(self._repo, self._head)
        again = time.monotonic() + AGAIN
        while not (watch.moved() or self._over(self._until) or self._over(until) or (refused and time.monotonic() > again)):
            self._sleep(PAUSE)
            self._listen(Looked())
        return True

    def _over(self, end: datetime | None) -> bool:
        return end is not None and self._now() >= end
