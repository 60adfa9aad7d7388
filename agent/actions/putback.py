"""Giving the work tree back as it was before a step: only what the step changed, and nothing that a commit or a person holds by now."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable
from pathlib import PurePosixPath

from agent.durable import write_whole
from agent.errors import AgentctlError
from agent.journal import Entry
from agent.repository import snapshot
from agent.repository.changes import changed_between
from agent.repository.repo import Repo
from agent.store import memory_path


def give_back(repo: Repo, entry: Entry, ground: str, changed: Iterable[str]) -> list[str]:
    """Make the tree what it was before the step of `entry`; gives what couldn't be put back, which stays where it is.

    Tracked files among `changed` are as in `ground`, the step's new files are gone, files that a tool wrote over have their bytes and mode.
    """
    return [*_take_away_new(repo, entry, ground), *_restore(repo, ground, changed), *_restore_originals(repo, entry, ground)]


def _restore(repo: Repo, ground: str, changed: Iterable[str]) -> list[str]:
    tracked = [path for path, there in _at(repo, ground, list(changed)).items() if there]
    try:
        repo.put_back(tracked, ground)
    except AgentctlError as error:
        return [f"{len(tracked)} tracked files ({error.message})"]
    return []


def _at(repo: Repo, ground: str, paths: list[str]) -> dict[str, bool]:
    """Which of `paths` the commit `ground` holds."""
    return {path: blob is not None for path, blob in zip(paths, repo.blobs([f"{ground}:{path}" for path in paths]), strict=True)}


def _take_away_new(repo: Repo, entry: Entry, ground: str) -> list[str]:
    """Files that the step made go away, but for those that a commit holds by now."""
    landing = [memory_path(repo, path) for path, _ in entry.landing.files] if entry.landing else []
    new = [*entry.made, *landing, *(path for path, kept in entry.originals.items() if kept is None)]
    return [path for path, there in _at(repo, ground, new).items() if not there and not take_away(repo, path)]


def _restore_originals(repo: Repo, entry: Entry, ground: str) -> list[str]:
    committed = set(changed_between(repo, entry.base, ground))  # by a person, meanwhile: what they hold now is theirs
    held = [(path, kept) for path, kept in entry.originals.items() if kept is not None and path not in committed]
    contents = repo.blobs([blob for _, (blob, _) in held])
    stuck = [path for (path, (_, mode)), data in zip(held, contents, strict=True) if not _restore_bytes(repo, path, data, mode)]
    tracked = [path for path, there in _at(repo, ground, [path for path, _ in held]).items() if there and path not in stuck]
    with contextlib.suppress(AgentctlError):  # git then only takes longer to see that nothing has changed
        repo.look_again(tracked)
    return stuck


def _restore_bytes(repo: Repo, path: str, data: bytes | None, mode: int) -> bool:
    target = repo.top / path
    if data is None or stat.S_ISLNK(mode):
        return data is not None
    if snapshot.through_link(repo, path):
        return False
    try:
        if not target.is_file() or target.is_symlink() or target.read_bytes() != data:
            write_whole(target, data)
        target.chmod(stat.S_IMODE(mode))
    except OSError:
        return False
    return True


def take_away(repo: Repo, path: str) -> bool:
    """Remove a file, and the folders above it that are empty then; False where it can't be."""
    file = repo.top / path
    if snapshot.through_link(repo, path) or (file.is_dir() and not file.is_symlink()):
        return True
    try:
        file.unlink(missing_ok=True)
    except OSError:
        return False
    for folder in folders_above(path):
        try:
            (repo.top / folder).rmdir()
        except OSError:
            break
    return True


def folders_above(path: str) -> list[str]:
    """The folders above `path`, innermost first, without the top."""
    return [str(folder) for folder in PurePosixPath(path.rstrip("/")).parents if str(folder) != "."]


def held(repo: Repo, path: str) -> tuple[str, int] | None:
    """What `path` holds, kept in git's object store: a blob's id and the mode bits; None where nothing is there."""
    file = repo.top / path
    try:
        mode = file.lstat().st_mode
    except OSError:
        return None
    data = os.fsencode(file.readlink()) if stat.S_ISLNK(mode) else file.read_bytes()
    return snapshot.keep_bytes(repo, data), mode
