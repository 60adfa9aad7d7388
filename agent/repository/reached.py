"""What git took up from the work tree by name, held against what is reached by handles: only that counts.

git looks at a file and the folders above it, and opens it by its name afterwards; a link that is swapped in between leads it elsewhere.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from agent.repository.objects import id_of
from agent.repository.repo import Repo

LINK = "120000"
_FILES = ("100644", "100755", LINK)
_PORTION = 1 << 20  # bytes


def misread(repo: Repo, base: Mapping[str, tuple[str, str]], found: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, str] | None]:
    """Those files in `found` (mode and object by path, as git took them up) that differ from `base` and aren't what handles reach in the work tree.

    Each as it is reached; as in `base`, or None, where nothing is.
    """
    right: dict[str, tuple[str, str] | None] = {}
    for path, (mode, blob) in found.items():
        if mode in _FILES and base.get(path) != (mode, blob) and (real := reached(repo, path, mode, blob)) != blob:
            right[path] = (mode, real) if real else base.get(path)
    return right


def reached(repo: Repo, path: str, mode: str, blob: str) -> str | None:
    """The object that the file or link at `path` makes, filters and all: `blob`, which git made of it by name, if nothing came in between.

    None where no such thing is reached.
    """
    told = repo.work.look(path)
    try:
        if told is not None and stat.S_ISLNK(told.st_mode):
            return _of_link(repo, path, mode, blob)
        with repo.work.reading(path) as file:
            return _of_file(repo, path, file, blob)
    except OSError:
        return None


def _of_link(repo: Repo, path: str, mode: str, blob: str) -> str | None:
    target = os.fsencode(repo.work.link(path))
    if id_of("blob", [target], len(target), blob) == blob:
        return blob
    return repo.git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=target).decode().strip() if mode == LINK else None


def _of_file(repo: Repo, path: str, file: BinaryIO, blob: str) -> str:
    raw = id_of("blob", _portions(file), os.fstat(file.fileno()).st_size, blob)
    if raw != blob and (path, raw, blob) not in repo.cleaned:
        os.lseek(file.fileno(), 0, os.SEEK_SET)  # a file's own seek may stay within what it has buffered
        made = repo.git.run("hash-object", "-w", f"--path={path}", "--stdin", stdin=file).decode().strip()
        if made != blob:
            return made
        repo.cleaned.add((path, raw, blob))
    return blob


def _portions(file: BinaryIO) -> Iterator[bytes]:
    while portion := file.read(_PORTION):
        yield portion
