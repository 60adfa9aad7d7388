"""Whether work in progress is sent to a remote while a step works, and recalled when it is over."""

from __future__ import annotations

from typing import Protocol

from agent.domain.events import Listener, Phase
from agent.repository.repo import Repo
from agent.repository.sharing import recall, refuse_unknown_remote, send


class Sharing(Protocol):
    """Lets others have a ref that keeps work in progress. What fails is told, and never ends the step."""

    def send(self, ref: str) -> None:
        """The ref is new, or has moved on."""
        ...

    def recall(self, ref: str) -> None:
        """The step behind the ref is over."""
        ...


class KeptHere:
    """Work in progress is nobody else's."""

    def send(self, ref: str) -> None:
        """Nothing leaves the repository."""

    def recall(self, ref: str) -> None:
        """Nothing has left it."""


HERE = KeptHere()


class SentTo:
    """Work in progress goes to a remote."""

    def __init__(self, repo: Repo, remote: str, listen: Listener) -> None:
        self._repo = repo
        self._remote = remote
        self._listen = listen

    def send(self, ref: str) -> None:
        """Push the ref."""
        self._tell("not sent", ref, send(self._repo, self._remote, ref))

    def recall(self, ref: str) -> None:
        """Delete it there."""
        self._tell("not recalled", ref, recall(self._repo, self._remote, ref))

    def _tell(self, what: str, ref: str, why: str) -> None:
        if why:
            self._listen(Phase(what, f"{ref}, {self._remote}: {why}"))


def sharing_for(repo: Repo, remote: str, listen: Listener) -> Sharing:
    """As `push_wip` says. Raises AgentctlError where it names no remote of this repository."""
    if not remote:
        return HERE
    refuse_unknown_remote(repo, remote)
    return SentTo(repo, remote, listen)
