"""The tree of an undo: written out and committed, or taken back where no commit comes of it, after a kill too."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

from msgspec import convert

from agent.domain.change import Change
from agent.domain.shape import parsed
from agent.durable import read_own, sync_folder, write_whole
from agent.errors import AgentctlError
from agent.repository import snapshot
from agent.repository.changes import changed_between, changes_between
from agent.repository.committing import commit_as_person
from agent.repository.git import gist
from agent.repository.landing import made_on
from agent.repository.repo import Repo
from agent.repository.trees import tree_of_work
from agent.repository.writing import put_back, unstage


def land_undo(repo: Repo, head: str, tree: str, message: str) -> str:
    """Write what differs in `tree` from `head`, where HEAD is, and commit exactly `tree`, with the person's hooks and signing; gives the commit.

    All is as it was where no commit comes of it, and AgentctlError is raised. None of the files that differ may have changes.
    """
    changes = changes_between(repo, head, tree)
    write_whole(_record(repo), json.dumps({"head": head, "tree": tree}).encode())
    try:
        put_back(repo, [change.path for change in changes], tree)
        said = commit_as_person(repo, head, "--cleanup=verbatim", "--file=-", stdin=message.encode())[1]
        after = repo.head()
    except BaseException:
        _take_away(repo, changes, head)
        _close(repo)
        raise
    if after is None or after == head:
        _take_away(repo, changes, head)
        _close(repo)
        raise AgentctlError(f"a hook or git refused the undo: {gist(said) or 'no commit was made'}", "mend what it names; nothing has changed")
    _close(repo)
    return after


def _record(repo: Repo) -> Path:
    """Where it is noted that an undo is under way: on top of which commit, and its tree."""
    return repo.private / "undo.json"


def _close(repo: Repo) -> None:
    _record(repo).unlink(missing_ok=True)
    sync_folder(repo.private)


def begun(repo: Repo) -> float:
    """When the undo that is under way began, in seconds since 1970; 0 where none is."""
    try:
        return _record(repo).stat().st_mtime
    except OSError:
        return 0.0


def _told(repo: Repo) -> tuple[str, str]:
    """The commit that the undo began on, and its tree. Raises AgentctlError where the record can't be read."""
    try:
        told = convert(parsed(read_own(_record(repo))), dict[str, str])
        return told["head"], told["tree"]
    except (ValueError, KeyError):
        raise AgentctlError(f"{_record(repo)} can't be read", f"look at git status, then: rm {shlex.quote(str(_record(repo)))}") from None


def pick_up_undo(repo: Repo) -> str:
    """End an undo that was under way when its agentctl died: it stands where its commit is there, else the files are as before it. In a sentence."""
    head, tree = _told(repo)
    if repo.head() == head:
        changes = changes_between(repo, head, tree)
        kept = _keep_strange(repo, head, tree, changes)
        _take_away(repo, changes, head)
        _close(repo)
        return f"an earlier agentctl died during an undo: your files are as before it{kept}"
    _close(repo)
    made = made_on(repo, head)
    if made and repo.commit(made).tree == tree:
        return "an earlier agentctl died right after its undo had landed; that stands"
    return "an earlier agentctl died during an undo, and HEAD has moved since: your files stay as they are, see git status"


def _keep_strange(repo: Repo, head: str, tree: str, changes: Sequence[Change]) -> str:
    """Keep the work tree where a file to be taken back holds what neither side has: half-written, or edited since. Gives words that say so."""
    paths = {change.path for change in changes}
    now = tree_of_work(repo, head, [change.path for change in changes if change.kind == "added"])
    if not paths & changed_between(repo, now, head).keys() & changed_between(repo, now, tree).keys():
        return ""
    ref = f"{snapshot.ATTEMPTS}undo-{now[:10]}"
    snapshot.keep(repo, ref, now, [head], "files as an undo that was broken off left them")
    return f"; as it left them they are kept in {ref}"


def _take_away(repo: Repo, changes: Sequence[Change], head: str) -> None:
    """Make the files of `changes` what they were in `head`, however far the writing got."""
    added = [change.path for change in changes if change.kind == "added"]
    if added:
        unstage(repo, added)
    for path in added:
        repo.work.remove(path)
    put_back(repo, [change.path for change in changes if change.kind != "added"], head)
