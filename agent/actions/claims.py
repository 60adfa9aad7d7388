"""What a note claims: a new file lands only where a tool wrote it, or where the note names it."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Iterator

from agent.actions.putback import folders_above
from agent.domain.note import mentions
from agent.repository.repo import Repo


def claims(repo: Repo, ground: str, note: str, path: str) -> bool:
    """Whether `note` names `path` (relative to the top), or a folder above it that commit `ground` doesn't have, with its `/`."""
    if mentions(note, path.removeprefix(repo.prefix)):
        return True
    folders = [folder for folder in folders_above(path) if mentions(note, f"{folder}/".removeprefix(repo.prefix))]
    return any(not repo.tree_has(ground, folder) for folder in folders)


def fresh(paths: Iterable[str], persons: Collection[str]) -> list[str]:
    """Those of `paths` that aren't the person's, by themselves or by a folder above them, which ends in `/`."""
    known = set(persons)
    return [path for path in paths if path not in known and not any(f"{folder}/" in known for folder in folders_above(path))]


def may_claim_new(repo: Repo, ground: str, note: str, known: Collection[str]) -> bool:
    """Whether `note` may claim any file of the work tree that is neither in commit `ground` nor `known`, as `fresh` has it; "no" is sure.

    Only folders whose names stand in the note are looked into, and not the whole tree.
    """
    try:
        named = fresh((path for base in {"", repo.prefix} for path in _named(repo, base, note)), known)
    except OSError:  # somebody is at work there
        return True
    return not all(repo.there([f"{ground}:{path.removesuffix('/')}" for path in named]))


def _named(repo: Repo, base: str, note: str) -> Iterator[str]:
    """Files below `base` that `note` names by their paths from there, and folders that it names with their `/`; relative to the top."""
    folders = [""]
    while folders:
        folder = folders.pop()
        for name in repo.work.names(base + folder):
            told = folder + name
            spelled = {told, unicodedata.normalize("NFC", told)}  # git may compose what the folder has in parts (core.precomposeUnicode)
            if name == ".git" or not any(one in note for one in spelled):
                continue
            end = "/" if repo.work.is_folder(base + told) else ""
            if end:
                folders.append(told + end)
            if any(mentions(note, one + end) for one in spelled):
                yield base + told + end
