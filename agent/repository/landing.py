"""Commits of exactly one tree, made as the person would make them: with their hooks, their signing, their name."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from types import FrameType

from msgspec import Struct

from agent.domain.text import first_of
from agent.errors import AgentctlError
from agent.repository.changes import changed_between
from agent.repository.committing import way_to_commit
from agent.repository.git import GitError
from agent.repository.graft import graft
from agent.repository.reached import reached
from agent.repository.repo import Repo
from agent.repository.settled import settle
from agent.repository.torn import branch_in
from agent.repository.writing import take_up, unstage

_FILE = "100644"
_PATIENCE = 5.0  # seconds; an editor that looks at the state of the tree should not cost a step its commit
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Made(Struct, frozen=True):
    """What came of a commit: `commit` is None where none was made; `said` is what git and the hooks printed.

    `strange` are the paths in which the commit differs from the tree that was to be committed: a hook changed them.
    """

    commit: str | None
    said: str
    strange: tuple[str, ...] = ()


def commit_tree(repo: Repo, ground: str | None, tree: str | None, files: Sequence[str], message: str) -> Made:
    """Commit on top of `ground`, where HEAD has to be, `tree` (None: HEAD's own) with `files` as the work tree holds them.

    Paths are relative to the top. Of the work tree nothing else is read or written, so what is there meanwhile, staged
    or not, can't get in. Where somebody else moves HEAD first, no commit is made. Hold `uninterrupted` around this and
    around whatever notes its outcome.
    """
    repo.index_lock(_PATIENCE)
    if repo.head() != ground:
        return Made(None, "HEAD has moved meanwhile")
    wanted = graft(repo, tree or ground, {path: (_FILE, blob) for path, blob in _blobs(repo, files)})
    done, said = way_to_commit(repo, ground)(repo, ground, wanted, message, _later_than(repo, ground))
    ours = made_on(repo, ground) if done else None
    if ours is None:
        return Made(None, said)
    settle(repo, branch_in(repo.git_dir / "HEAD"), ours)
    follow(repo, {*_changed(repo, ground, ours), *files})
    return Made(ours, said, tuple(changed_between(repo, wanted, ours)) if repo.commit(ours).tree != wanted else ())


def made_on(repo: Repo, ground: str | None) -> str | None:
    """The first commit on top of `ground`: ours, whatever a hook or a person put on it since."""
    head = repo.git.objects.commit("HEAD")
    if head and head.parents == (ground,):
        return head.id
    listed = repo.git.run("rev-list", "--first-parent", "HEAD", *([f"^{ground}"] if ground else [])).decode().split()
    return listed[-1] if listed else None


def take_back(repo: Repo, commit: str, before: str) -> None:
    """Move the branch from `commit` back to `before`, if it still is at `commit`; the work tree stays. Raises GitError where it isn't."""
    repo.git.run("update-ref", "-m", "agentctl: taken back, it held what was not checked", "HEAD", before, commit)
    follow(repo, _changed(repo, commit, before))


def follow(repo: Repo, paths: Iterable[str]) -> None:
    """Let the person's index say of `paths` what HEAD says. An index that is locked stays as it is: nothing is lost by that."""
    wanted = sorted(paths)
    repo.index_lock(_PATIENCE)
    try:
        unstage(repo, take_up(repo, wanted))
    except GitError:  # it may have been killed alone; its lock is taken away by now, and an index that stays behind would undo the commit in the next
        repo.index_lock(_PATIENCE)
        with contextlib.suppress(GitError):
            unstage(repo, wanted)


def _changed(repo: Repo, before: str | None, after: str) -> list[str]:
    if before is not None:
        return list(changed_between(repo, before, after))
    return [path for path in os.fsdecode(repo.git.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", after)).split("\0") if path]


def _blobs(repo: Repo, files: Sequence[str]) -> list[tuple[str, str]]:
    """The objects of files, through the filters that their paths ask for."""
    out = repo.git.run("hash-object", "-w", "--stdin-paths", stdin=b"".join(os.fsencode(path) + b"\n" for path in files))
    found = [(path, reached(repo, path, _FILE, blob)) for path, blob in zip(files, out.decode().split(), strict=True)]
    lost = [path for path, blob in found if blob is None]
    if lost:
        raise AgentctlError(
            f"somebody took away or replaced what was about to be committed: {first_of(lost, 3, 60)}", "see what else is at work there"
        )
    return [(path, blob) for path, blob in found if blob]


def _later_than(repo: Repo, commit: str | None) -> dict[str, str]:
    """The committer's date of a commit on top of `commit`: now, or one second after it, so that times tell the order."""
    if commit is None:
        return {}
    before = repo.commit(commit).time
    return {"GIT_COMMITTER_DATE": f"{before + 1} +0000"} if before >= int(time.time()) else {}


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """A signal that asks to stop is remembered, and acted on at the end: a commit's outcome is noted before anything else happens.

    What it does to git and its hooks is not changed. A second one ends the process at once; the next agentctl picks that up.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        del frame
        if came:
            os._exit(128 + number)
        came.append(number)

    heard = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, remember) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            os.kill(os.getpid(), came[0])
