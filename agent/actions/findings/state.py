"""Where HEAD is, what is under way, who commits: what a step and an undo refuse to begin without."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from agent.actions.findings.finding import Finder, Finding, Look, listed
from agent.actions.preflight import recover
from agent.domain.text import one_line
from agent.errors import AgentctlError
from agent.lock import locked
from agent.repository.repo import Repo
from agent.repository.torn import mend, refusal

_PATIENCE = 1.0  # seconds; an editor that looks at the state of the tree is quicker


def torn(look: Look) -> Iterator[Finding]:
    """A power cut tore the branch."""
    found = look.repo.torn()
    if found:
        told = refusal(found)
        yield Finding("error", told.message, told.hint, (lambda: mend(found, look.repo.common_dir)) if found.last else None)


def unborn(look: Look) -> Iterator[Finding]:
    """There is no commit."""
    if look.status.head is None:
        yield Finding("error", "there is no commit here yet, so nothing could be put back", "make a first commit (git commit), then try again")


def detached(look: Look) -> Iterator[Finding]:
    """HEAD is at no branch."""
    if look.status.branch is None:
        yield Finding("error", "HEAD is detached: no branch would hold the commit", "git switch -c NAME")


def under_way(look: Look) -> Iterator[Finding]:
    """A merge, rebase or the like has begun."""
    told = look.repo.operation()
    if told:
        yield Finding("error", f"{told[0]} is under way", told[1])


def conflict(look: Look) -> Iterator[Finding]:
    """Files are in conflict."""
    if look.status.unmerged:
        paths = listed(one_line(path, 60) for path in look.status.unmerged)
        yield Finding("error", f"files are in conflict: {paths}", "resolve them and commit, then try again")


def nobody(look: Look) -> Iterator[Finding]:
    """Nobody is named who commits."""
    if look.repo.identity() is None:
        yield Finding("error", "git doesn't know who you are", 'git config user.name "YOUR NAME" && git config user.email YOU@EXAMPLE.COM')


def unwritable(look: Look) -> Iterator[Finding]:
    """Nothing could be written."""
    for folder in (look.repo.root, look.repo.git_dir):
        if not os.access(folder, os.W_OK):
            yield Finding("error", f"agentctl can't write to {folder}", "make it writable, or work in a clone of your own")


def index_lock(look: Look) -> Iterator[Finding]:
    """A git command is at work on the index, or died there."""
    lock = look.repo.index_lock(_PATIENCE)
    if lock:
        mend = f"wait for it; if none is running, it died: rm {shlex.quote(str(lock))}"
        yield Finding("error", f"another git command is at work here: {lock} is there", mend, lambda: _take_away(look.repo, lock))


def _take_away(repo: Repo, lock: Path) -> str:
    """As the next step would, where the git of an agentctl that died left it."""
    with locked(repo.private) as before:
        recover(repo, before)
    if lock.exists():
        raise AgentctlError(f"{lock} stays", "no agentctl died here, so it is somebody else's")
    return f"{lock} is taken away: the git of an agentctl that died had left it"


STATE: tuple[Finder, ...] = (torn, unborn, detached, under_way, conflict, nobody, unwritable, index_lock)
