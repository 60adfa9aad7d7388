"""Keeping work in progress under `refs/agentctl/`, without touching the index, the stash or any branch."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from agent.repository.git import GitError
from agent.repository.objects import entries
from agent.repository.repo import Repo
from agent.repository.settled import settle

WIP = "refs/agentctl/wip/"
PAUSED = "refs/agentctl/paused/"
ATTEMPTS = "refs/agentctl/attempts/"
KEPT = "refs/agentctl/kept/"

_FOLDER = b"40000"  # the mode of a tree in a tree


def entries_of(repo: Repo, tree: str, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Mode and object of those of `paths` that `tree` holds as anything but a folder."""
    wanted: dict[str, dict[bytes, str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        wanted.setdefault(folder, {})[os.fsencode(name)] = path
    held: dict[str, tuple[str, str]] = {}
    for names, found in zip(wanted.values(), repo.git.objects.contents([f"{tree}:{folder}" for folder in wanted]), strict=True):
        rows = entries(found) if found and found.kind == "tree" else iter(())
        held |= {names[name]: (mode.decode().zfill(6), identity.hex()) for mode, name, identity in rows if name in names and mode != _FOLDER}
    return held


def index_lines(paths: Iterable[str], entries: Mapping[str, tuple[str, str]], like: str) -> bytes:
    """What `update-index --index-info` wants to make `paths` what they are in `entries` (mode and object), and to drop those that aren't there.

    `like` is any id of the repository: no object's is as long.
    """
    lines = ((path, " ".join(entries[path]) if path in entries else f"0 {'0' * len(like)}") for path in paths)
    return b"".join(f"{line}\t".encode() + os.fsencode(path) + b"\0" for path, line in lines)


@contextlib.contextmanager
def own_index(repo: Repo, tree: str) -> Iterator[dict[str, str]]:
    """The environment of an index of our own that holds `tree`.

    It begins as a copy of the person's, and only what differs is set: reading a whole tree would take longer, and git then knows no file's size and time.
    """
    index = repo.private / f"work-{os.getpid()}.index"
    repo.private.mkdir(parents=True, exist_ok=True)
    lock = index.with_name(f"{index.name}.lock")
    lock.unlink(missing_ok=True)  # of an agentctl with the same number that was killed
    env = {"GIT_INDEX_FILE": str(index)}
    real = repo.git_dir / "index"
    try:
        if real.exists():
            shutil.copy2(real, index)
            _set_to(repo, tree, env)
        else:
            index.unlink(missing_ok=True)
            repo.git.run("read-tree", tree, env=env)
        yield env
    finally:
        index.unlink(missing_ok=True)
        lock.unlink(missing_ok=True)


def _set_to(repo: Repo, tree: str, env: Mapping[str, str]) -> None:
    told = os.fsdecode(repo.git.run("diff-index", "--cached", "-z", "--raw", "--no-renames", tree, env=env)).split("\0")
    lines = zip(told[1::2], (line.removeprefix(":").split(" ") for line in told[0::2]), strict=False)
    held = {path: (mode, identity) for path, (mode, _, identity, _, _) in lines}
    if held:
        there = {path: entry for path, entry in held.items() if entry[0].strip("0")}
        repo.git.run("update-index", "-z", "--index-info", stdin=index_lines(held, there, next(iter(held.values()))[1]), env=env)


def keep(repo: Repo, ref: str, tree: str, parents: Sequence[str], message: str) -> str:
    """Point `ref` at a new commit of `tree` on top of `parents`; gives the commit."""
    commit = repo.git.run("commit-tree", tree, *(word for parent in parents for word in ("-p", parent)), stdin=message.encode()).decode().strip()
    point(repo, ref, commit)
    return commit


def point(repo: Repo, ref: str, commit: str) -> None:
    """Let `ref` keep `commit`; on disk when this returns."""
    repo.git.run("update-ref", "--end-of-options", ref, commit)
    settle(repo, ref, commit)


def rename(repo: Repo, old: str, new: str) -> str | None:
    """Move what `old` keeps to `new`; gives the commit, None where `old` keeps nothing."""
    commit = repo.resolve(old)
    if commit is not None:
        repo.git.run("update-ref", "--end-of-options", new, commit)
        drop(repo, old)
    return commit


def attempt_ref(repo: Repo, step: str) -> str:
    """A ref for an attempt of `step` that keeps nothing yet."""
    numbered = (f"{ATTEMPTS}{step}-{number}" for number in itertools.count(2))
    return next(ref for ref in itertools.chain([f"{ATTEMPTS}{step}"], numbered) if repo.resolve(ref) is None)


class Ref(NamedTuple):
    """A ref of ours, and the commit that it keeps."""

    name: str
    commit: str
    parents: tuple[str, ...]
    message: str


def refs(repo: Repo, under: str) -> list[Ref]:
    """The refs below `under`, by name."""
    out = repo.git.run("for-each-ref", "--format=%(refname)%00%(objectname)%00%(parent)%00%(contents)%00", under).decode("utf-8", "replace")
    words = out.split("\0")[:-1]
    fields = zip(words[0::4], words[1::4], words[2::4], words[3::4], strict=True)
    return [Ref(name.lstrip("\n"), commit, tuple(parents.split()), message) for name, commit, parents, message in fields]


def merged(repo: Repo, ours: str, theirs: str) -> str | None:
    """The tree of a merge of two commits, made beside the work tree; None where they conflict, or git can't (before 2.38)."""
    try:
        out = repo.git.run("merge-tree", "--write-tree", "--name-only", "-z", ours, theirs, ok=(0, 1))
    except GitError:
        return None
    tree, *conflicts = os.fsdecode(out).split("\0")
    return None if any(conflicts) else tree


def drop(repo: Repo, ref: str) -> None:
    """Forget `ref`; nothing where it isn't there."""
    repo.git.run("update-ref", "-d", "--end-of-options", ref)


def keep_bytes(repo: Repo, data: bytes) -> str:
    """Keep `data` in git's object store, untouched by filters; gives its id."""
    return repo.git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=data).decode().strip()
