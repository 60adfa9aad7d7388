"""Keeping work in progress under `refs/agentctl/`, without touching the index, the stash or any branch."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping

from agent.repository.repo import Repo

WIP = "refs/agentctl/wip/"
ATTEMPTS = "refs/agentctl/attempts/"


def tree_of_work(repo: Repo, new: Iterable[str]) -> str:
    """The tree of the work tree as it stands: tracked files as they are now, plus the `new` paths (relative to the top)."""
    index = repo.private / "snapshot.index"
    repo.private.mkdir(parents=True, exist_ok=True)
    own = {"GIT_INDEX_FILE": str(index)}
    real = repo.git_dir / "index"
    if real.exists():
        shutil.copy2(real, index)  # its stat cache spares hashing every file
    try:
        repo.git.run("add", "--update", "--ignore-errors", "--", ".", env=own, ok=(0, 1))
        there = [path for path in new if os.path.lexists(repo.top / path)]
        if there:
            listing = b"".join(os.fsencode(path) + b"\0" for path in there)
            repo.git.run("add", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=listing, env=own, ok=(0, 1))
        return repo.git.run("write-tree", env=own).decode().strip()
    finally:
        index.unlink(missing_ok=True)
        index.with_suffix(".index.lock").unlink(missing_ok=True)


def with_entries(repo: Repo, tree: str, entries: Mapping[str, tuple[str, str]]) -> str:
    """`tree` with `entries` (path relative to the top: mode and object) in place of what it holds there."""
    index = repo.private / "entries.index"
    own = {"GIT_INDEX_FILE": str(index)}
    listing = b"".join(f"{mode} {identity}\t".encode() + os.fsencode(path) + b"\0" for path, (mode, identity) in entries.items())
    try:
        repo.git.run("read-tree", tree, env=own)
        repo.git.run("update-index", "-z", "--index-info", stdin=listing, env=own)
        return repo.git.run("write-tree", env=own).decode().strip()
    finally:
        index.unlink(missing_ok=True)


def keep(repo: Repo, ref: str, tree: str, base: str, message: str) -> str:
    """Point `ref` at a new commit of `tree` on top of `base`; gives the commit."""
    commit = repo.git.run("commit-tree", tree, "-p", base, "-m", message).decode().strip()
    repo.git.run("update-ref", "--end-of-options", ref, commit)
    return commit


def rename(repo: Repo, old: str, new: str) -> str | None:
    """Move what `old` keeps to `new`; gives the commit, None where `old` keeps nothing."""
    commit = repo.resolve(old)
    if commit is not None:
        repo.git.run("update-ref", "--end-of-options", new, commit)
        drop(repo, old)
    return commit


def drop(repo: Repo, ref: str) -> None:
    """Forget `ref`; nothing where it isn't there."""
    repo.git.run("update-ref", "-d", "--end-of-options", ref)


def keep_bytes(repo: Repo, data: bytes) -> str:
    """Keep `data` in git's object store, untouched by filters; gives its id."""
    return repo.git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=data).decode().strip()
