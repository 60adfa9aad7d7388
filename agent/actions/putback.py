"""Giving the work tree back as it was before a step: only what the step changed, and nothing that a commit or a person holds by now."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable
from pathlib import PurePosixPath

from agent.errors import AgentctlError
from agent.journal import Entry
from agent.repository import snapshot
from agent.repository.changes import changed_between
from agent.repository.repo import Repo
from agent.repository.writing import look_again, put_back
from agent.store import memory_path


def give_back(repo: Repo, entry: Entry, ground: str, changed: Iterable[str]) -> list[str]:
    """Make the tree what it was before the step of `entry`; gives what couldn't be put back, which stays where it is.

    Tracked files among `changed` are as in `ground`, the step's new files are gone, files that a tool wrote over have their bytes and mode.
    """
    return [*_take_away_new(repo, entry, ground), *_restore(repo, ground, changed), *_restore_originals(repo, entry, ground)]


def _restore(repo: Repo, ground: str, changed: Iterable[str]) -> list[str]:
    tracked = [path for path, there in _at(repo, ground, list(changed)).items() if there]
    try:
        put_back(repo, tracked, ground)
    except AgentctlError as error:
        return [f"{len(tracked)} tracked files ({error.message})"]
    return []


def _at(repo: Repo, ground: str, paths: list[str]) -> dict[str, bool]:
    """Which of `paths` the commit `ground` holds."""
    return dict(zip(paths, repo.there([f"{ground}:{path}" for path in paths]), strict=True))


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
        look_again(repo, tracked, ground)
    return stuck


def _restore_bytes(repo: Repo, path: str, data: bytes | None, mode: int) -> bool:
    if data is None or stat.S_ISLNK(mode):
        return data is not None
    if _holds(repo, path, data, mode):
        return True
    try:
        repo.work.write(path, data, mode)
        repo.work.settle(path)
    except OSError:
        return False
    return True


def _holds(repo: Repo, path: str, data: bytes, mode: int) -> bool:
    """Whether the file at `path` holds `data`; it then has the bits of `mode` too."""
    try:
        with repo.work.reading(path) as file:
            if file.read(len(data) + 1) != data:
                return False
            os.fchmod(file.fileno(), stat.S_IMODE(mode))
    except OSError:
        return False
    return True


def take_away(repo: Repo, path: str) -> bool:
    """Remove a file, and the folders above it that are empty then; False where it can't be."""
    try:
        repo.work.remove(path)
    except OSError:
        return False
    return True


def folders_above(path: str) -> list[str]:
    """The folders above `path`, innermost first, without the top."""
    return [str(folder) for folder in PurePosixPath(path.rstrip("/")).parents if str(folder) != "."]


def held(repo: Repo, path: str) -> tuple[str, int] | None:
    """What `path` holds, kept in git's object store: a blob's id and the mode bits; None where nothing is there.

    Raises AgentctlError for what is neither a file nor a link.
    """
    told = repo.work.look(path)
    if told is None:
        return None
    try:
        data = os.fsencode(repo.work.link(path)) if stat.S_ISLNK(told.st_mode) else repo.work.read(path)
    except OSError as error:
        raise AgentctlError(f"{path} can't be read to keep what it holds: {error.strerror}", "see who else is at work on it") from error
    return snapshot.keep_bytes(repo, data), told.st_mode
