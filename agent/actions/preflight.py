"""Before a step touches anything: pick up what a crash left, and refuse what is unsafe with the command that mends it."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence

from msgspec.structs import replace

from agent.actions.commits import ground_for
from agent.actions.resume import close_landed, finished, pause
from agent.actions.trust import refuse_untrusted
from agent.actions.undo_tree import begun, pick_up_undo
from agent.actions.workbench import Workbench
from agent.domain.events import Listener, Phase
from agent.domain.message import steps_in
from agent.domain.text import first_of, one_line
from agent.durable import TEMPORARY, abandoned
from agent.errors import AgentctlError
from agent.journal import Entry, Journal
from agent.lock import MARK, Predecessor
from agent.repository import packing, snapshot
from agent.repository.changes import changed_between
from agent.repository.landing import follow
from agent.repository.locks import clear_left_locks
from agent.repository.repo import FOLDER, Repo
from agent.repository.status import Status
from agent.repository.trees import tree_of_work
from agent.repository.writing import STAGE
from agent.store import refuse_ignored
from agent.worker.processes import end_marked

_PATIENCE = 1.0  # seconds; an editor that looks at the state of the tree is quicker


def refuse_unsafe(repo: Repo) -> Status:
    """The state of the work tree, if a step may begin in it. Raises AgentctlError that says what stands in the way."""
    status = refuse_uncommittable(repo)
    _refuse_changes(status, repo.prefix)
    return status


def refuse_uncommittable(repo: Repo) -> Status:
    """The state of the work tree, if files of `.agent/` can be committed in it, whatever else is modified. Raises AgentctlError as `refuse_unsafe`."""
    refuse_no_commit(repo)
    status = repo.survey()
    if status.head is None:
        raise AgentctlError("there is no commit here yet, so nothing could be put back", "make a first commit with git commit, then try again")
    return status


def refuse_no_commit(repo: Repo) -> None:
    """Raise AgentctlError where git could make no commit of files in `.agent/`, or none that a branch holds."""
    _refuse_unwritable(repo)
    if not repo.on_branch():
        raise AgentctlError("HEAD is detached: no branch would hold the commit", "git switch -c NAME")
    under_way = repo.operation()
    if under_way:
        raise AgentctlError(f"{under_way[0]} is under way", under_way[1])
    _refuse_locked(repo)
    if repo.identity() is None:
        raise AgentctlError("git doesn't know who you are", 'git config user.name "YOUR NAME" && git config user.email YOU@EXAMPLE.COM')
    refuse_ignored(repo)
    repo.programs.refuse()


def _refuse_locked(repo: Repo) -> None:
    lock = repo.index_lock(_PATIENCE)
    if lock:
        raise AgentctlError(
            f"another git command is at work here: {lock} is there", f"wait for it; if none is running, it died: rm {shlex.quote(str(lock))}"
        )


def _refuse_unwritable(repo: Repo) -> None:
    for folder in (repo.root, repo.git_dir):
        if not os.access(folder, os.W_OK):
            raise AgentctlError(f"agentctl can't write to {folder}", "make it writable, or work in a clone of your own")


def _refuse_changes(status: Status, prefix: str) -> None:
    if status.unmerged:
        raise AgentctlError(f"files are in conflict: {_named(status.unmerged)}", "resolve them and commit, then try again")
    if status.staged:
        raise AgentctlError(f"work is staged: {_named(status.staged)}", "git commit, or git restore --staged -- FILES")
    if not status.modified:
        return
    own = [path for path in status.modified if path.startswith(f"{prefix}{FOLDER}/")]
    if own:
        raise AgentctlError(f"files in {FOLDER}/ differ from HEAD: {_named(own)}", f"git commit them, or take them back: git restore -- {own[0]}")
    raise AgentctlError(f"tracked files are modified: {_named(status.modified)}", "git commit them, or put them aside: git stash")


def _named(paths: Sequence[str]) -> str:
    return first_of(paths, 3, 60)


def pick_up(repo: Repo, before: Predecessor, listen: Listener) -> None:
    """Go on only where what the settings and git would run is approved; then `recover`, and tell. Raises Untrusted, and as `recover`."""
    refuse_untrusted(repo)
    told = recover(repo, before)
    if told:
        listen(Phase("recovered", told))


def recover(repo: Repo, before: Predecessor) -> str:
    """Pick up what an earlier agentctl left when it died; gives one sentence about it, "" where there was nothing.

    `before` is whoever held the lock then: what it had started is ended. A step whose commit is there is finished, a commit
    that was about to be made is made; of any other step the tree is put back and the work is kept to go on from; so is it of an undo
    that made no commit. What changed since that wasn't the step's is a person's, and stays. Where somebody has moved HEAD to more than new files in `.agent/`, nothing is
    touched and AgentctlError is raised.
    """
    _sweep(repo)
    journal = Journal(repo.private)
    entry = journal.read()
    since = journal.written() or begun(repo) or before.dead
    if not since:
        return ""
    for path in repo.untracked_like(f"*{TEMPORARY}"):
        if abandoned(repo.top / path):
            repo.work.remove(path)
    if before.mark:
        end_marked(f"{MARK}={before.mark}", _PATIENCE)
    clear_left_locks(repo.place, since)
    _refuse_locked(repo)
    if entry:
        return _recovered(repo, journal, entry)
    return pick_up_undo(repo) if begun(repo) else ""


def tidy(repo: Repo, listen: Listener) -> None:
    """Let git pack what is loose, where it would do so after a person's commit. What goes wrong there is told, and keeps no step from being taken."""
    try:
        if not packing.crowded(repo):
            return
        listen(Phase("pack", "git puts the loose objects that have gathered into a pack"))
        trouble = packing.pack(repo)
    except (OSError, AgentctlError) as error:
        trouble = str(error)
    if trouble:
        listen(Phase("pack", f"git could not: {one_line(trouble, 200)}"))


def _recovered(repo: Repo, journal: Journal, entry: Entry) -> str:
    """The step of `entry` is over, one way or the other, when this returns; what became of it in a sentence."""
    if _has_landed(repo, entry):
        follow(repo, changed_between(repo, entry.base, "HEAD"))  # a kill may have come between the commit and this
        close_landed(Workbench(repo, journal, entry))
        return f"an earlier agentctl died right after {entry.step} had landed; that step stands"
    try:
        ground = ground_for(repo, entry.base, entry.item)
    except AgentctlError as error:
        raise AgentctlError(
            f"an earlier agentctl died during {entry.step}: {error.message}",
            f"look at git status; its work is in {snapshot.WIP}{entry.step}; when the tree is as you want it: agentctl doctor --fix",
        ) from None
    bench = Workbench(repo, journal, replace(entry, theirs=(*entry.theirs, *_since_then(repo, entry, ground))))
    if finished(bench):
        return f"an earlier agentctl died while {entry.step} was about to be committed; that is done now"
    kept = pause(bench)
    return f"an earlier agentctl died during {entry.step}: the tree is put back" + (f"; what it had done is kept in {kept}" if kept else "")


def _sweep(repo: Repo) -> None:
    """Half-written files of our own that a kill left in the git directory go."""
    for index in repo.private.glob("work-*.index*"):
        index.unlink(missing_ok=True)
    for stage in repo.private.glob(f"{STAGE}*"):
        shutil.rmtree(stage, ignore_errors=True)
    for temporary in {*repo.private.rglob(f"*{TEMPORARY}"), *repo.shared.rglob(f"*{TEMPORARY}")}:
        if abandoned(temporary):
            temporary.unlink(missing_ok=True)


def _has_landed(repo: Repo, entry: Entry) -> bool:
    """Whether a commit since the step began carries its trailer."""
    head = repo.head()
    if head is None or head == entry.base:
        return False
    messages = repo.git.run("log", "--format=%B", head, f"^{entry.base}").decode("utf-8", "replace")
    return entry.step in {str(step) for step in steps_in(messages)}


def _since_then(repo: Repo, entry: Entry, ground: str) -> list[str]:
    """Tracked files that differ from the commit but weren't changed when the step was last seen: a person's, unless a tool was at work."""
    if entry.doing:
        return []
    wip = repo.resolve(f"{snapshot.WIP}{entry.step}")
    known = set(changed_between(repo, entry.base, wip)) if wip else set()
    now = changed_between(repo, ground, tree_of_work(repo, ground, ()))
    return [path for path in now if path not in known and path not in entry.originals]
