"""What git took up from the work tree by name, held against what is reached by handles: only that counts.

git looks at a file and the folders above it, and opens it by its name afterwards; a link that is swapped in between leads it elsewhere.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from typing import BinaryIO

from agent.repository.repo import Repo

LINK = "120000"
_FILES = ("100644", "100755", LINK)
_SHA1 = 40  # hexadecimal digits; an id of more is SHA-256's
_PORTION = 1 << 20  # bytes


def misread(repo: Repo, ground: str, index: Mapping[str, str]) -> dict[str, tuple[str, str] | None]:
    """The files in which the index (by its environment) differs from `ground` and isn't what handles reach in the work tree.

    Each with mode and object as they are reached; None where nothing is.
    """
    out = os.fsdecode(repo.git.run("diff-index", "--cached", "-z", "--raw", "--no-renames", ground, env=index)).split("\0")
    found: dict[str, tuple[str, str] | None] = {}
    for path, (_, mode, _, blob, _) in zip(out[1::2], (field.split(" ") for field in out[0::2]), strict=False):
        if mode in _FILES and (real := reached(repo, path, mode, blob)) != blob:
            found[path] = (mode, real) if real else None
    return found


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
    if _id([target], len(target), blob) == blob:
        return blob
    return repo.git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=target).decode().strip() if mode == LINK else None


def _of_file(repo: Repo, path: str, file: BinaryIO, blob: str) -> str:
    raw = _id(_portions(file), os.fstat(file.fileno()).st_size, blob)
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


def _id(portions: Iterable[bytes], size: int, like: str) -> str:
    """The id of a blob of these bytes, by the algorithm of `like` (gitformat-loose(5): type and size, a NUL, the bytes)."""
    made = hashlib.sha1(usedforsecurity=False) if len(like) == _SHA1 else hashlib.sha256()
    made.update(f"blob {size}\0".encode())
    for portion in portions:
        made.update(portion)
    return made.hexdigest()
