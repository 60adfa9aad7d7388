"""Whether a file is still as a look at all files saw it, told without another."""

from __future__ import annotations

from agent.repository.objects import entry_for
from agent.repository.repo import Repo
from agent.repository.snapshot import entries_of
from agent.repository.status import Status


def surely_as_seen(repo: Repo, path: str, held: tuple[str, int] | None, since: Status) -> bool:
    """Whether nobody can have changed or staged `path` (relative to the top) `since` that look, when it was as in HEAD, or not tracked.

    `held` is what it holds now: the object of its bytes, and mode bits; None for nothing. "No" is not sure: where filters come in, git has to be asked.
    """
    if since.head is None or since.index is None or path in (*since.staged, *since.unmerged):
        return False
    entry = entries_of(repo, since.head, [path]).get(path)  # and so the index has it
    as_in_head = entry is None or (held is not None and entry == entry_for(*held))
    return as_in_head and since.index == repo.index_state() and since.head == repo.resolve("HEAD")
