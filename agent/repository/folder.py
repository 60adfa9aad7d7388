"""What `.agent/` holds at a commit: its files, and of its notes just the names, as there are thousands.

A day's notes follow from the id of its folder's tree. So what is kept of them can be deleted, or be of another branch,
without anybody noticing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from agent.cache import keep, kept
from agent.domain.names import NoteName, known_names
from agent.repository.objects import entries
from agent.repository.repo import FOLDER, Entry, Repo

LINK, _TREE = "120000", "040000"
_NOTES = f"{FOLDER}/notes/"
_VERSION = 1


class Folder(NamedTuple):
    """`files` are those directly in `.agent/`, `todo/` and `lessons/`, and links anywhere; `notes` by time."""

    files: tuple[Entry, ...]
    notes: tuple[NoteName, ...]


def read_folder(repo: Repo, commit: str) -> Folder:
    """What `.agent/` holds at `commit`; nothing at all where it isn't there."""
    there = _children(repo, commit, [f"{FOLDER}/", f"{FOLDER}/todo/", f"{FOLDER}/lessons/", _NOTES])
    days = [entry for entry in there if entry.mode == _TREE and entry.path.startswith(_NOTES)]
    files = [entry for entry in there if entry.mode != _TREE] or _itself(repo, commit)
    cache = repo.private / "cache" / f"notes-{_VERSION}.json"
    known: Mapping[str, Sequence[str]] = (kept(cache) or {}) if days else {}
    fresh = [day for day in days if _key(day) not in known]
    if fresh:
        read, links = _read(repo, commit, fresh)
        files += links
        known = {**known, **read}
        _keep(cache, days, fresh, known, links)
    names = known_names(sorted(chain.from_iterable(known[_key(day)] for day in days)))
    return Folder(tuple(files), tuple(names))


def _children(repo: Repo, commit: str, paths: Sequence[str]) -> list[Entry]:
    """What lies directly in the folders `paths` (relative to `root`, each ended by `/`), folders too, by path."""
    trees = repo.git.objects.contents([f"{commit}:{repo.prefix}{path.rstrip('/')}" for path in paths])
    found = [
        Entry(mode.decode().zfill(6), ident.hex(), path + os.fsdecode(name))
        for path, tree in zip(paths, trees, strict=True)
        if tree and tree.kind == "tree"
        for mode, name, ident in entries(tree)
    ]
    return sorted(found, key=lambda entry: os.fsencode(entry.path))


def _itself(repo: Repo, commit: str) -> list[Entry]:
    """What lies in place of the folder: a link, say."""
    return [entry for entry in repo.tree(commit) if entry.path == FOLDER]


def _key(day: Entry) -> str:
    return f"{day.path.removeprefix(_NOTES)} {day.id}"


def _read(repo: Repo, commit: str, days: Sequence[Entry]) -> tuple[dict[str, list[str]], list[Entry]]:
    """The names of the notes in each of `days`, by `_key`, and links found there."""
    found: dict[str, list[str]] = {day.path: [] for day in days}
    there = _children(repo, commit, [f"{day.path}/" for day in days])
    for entry in there:
        name = NoteName.parse(entry.path)
        if name is not None and entry.path == f"{FOLDER}/{name.path}":
            found[entry.path.rpartition("/")[0]].append(name)
    return {_key(day): sorted(found[day.path]) for day in days}, [entry for entry in there if entry.mode == LINK]


def _keep(cache: Path, days: Sequence[Entry], fresh: Sequence[Entry], known: Mapping[str, Sequence[str]], links: Sequence[Entry]) -> None:
    """The newest day has more notes after each step, and is quicker read than kept."""
    if len(fresh) > 1 and not links:
        keep(cache, {_key(day): known[_key(day)] for day in days})
