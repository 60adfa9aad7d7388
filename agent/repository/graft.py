"""A tree with some of its entries replaced, made of tree objects and without an index: what it takes goes by what changes, not by how many files there are."""

from __future__ import annotations

import os
from collections.abc import Mapping

from agent.repository.git import GitError
from agent.repository.objects import entries, id_of
from agent.repository.repo import Repo

Entry = tuple[str, str]
"""Mode and object of what a tree holds at a path."""

_TREE = "040000"
_KINDS = {_TREE: "tree", "160000": "commit"}


def graft(repo: Repo, tree: str | None, put: Mapping[str, Entry | None]) -> str:
    """`tree`, an id (None: an empty tree), with what `put` says of paths in place of what it holds there; None: nothing.

    As in an index a file takes the place of a folder of that name, and a folder that of a file. Raises GitError where `tree` isn't there.
    """
    like = tree or next(entry[1] for entry in put.values() if entry)
    fresh: dict[str, Mapping[str, Entry]] = {}
    made = _grown(repo, f"{tree}^{{tree}}" if tree else "", put, fresh, like) or _named({}, fresh, like)
    feed = b"".join(b"".join(_line(*row) for row in rows.items()) + b"\0" for rows in fresh.values())
    out = repo.git.run("mktree", "-z", "--missing", "--batch", stdin=feed).decode().split()
    if out != list(fresh):
        raise GitError(("mktree",), 1, f"fatal: it made {out[-1:]} where {made} was meant")
    return made


def _grown(repo: Repo, name: str, put: Mapping[str, Entry | None], fresh: dict[str, Mapping[str, Entry]], like: str) -> str | None:
    """The id of the tree `name` ("": an empty one) with `put`, None where nothing is left in it; trees that this takes are added to `fresh`."""
    rows = _read(repo, name) if name else {}
    below: dict[str, dict[str, Entry | None]] = {}
    for path, entry in put.items():
        first, slash, rest = path.partition("/")
        if slash:
            below.setdefault(first, {})[rest] = entry
        elif entry or _subtree(rows, first) is None:
            rows.pop(first, None)
            rows |= {first: entry} if entry else {}
    for first, some in below.items():
        if put.get(first):
            continue
        known = _subtree(rows, first)
        made = _grown(repo, known or "", some, fresh, like)
        if made or known:
            rows.pop(first, None)
            rows |= {first: (_TREE, made)} if made else {}
    return _named(rows, fresh, like) if rows else None


def _subtree(rows: Mapping[str, Entry], name: str) -> str | None:
    mode, identity = rows.get(name, ("", ""))
    return identity if mode == _TREE else None


def _read(repo: Repo, name: str) -> dict[str, Entry]:
    found = repo.git.objects.contents([name])[0]
    if found is None:
        raise GitError(("cat-file",), 1, f"fatal: {name} is no tree")
    return {os.fsdecode(path): (mode.decode().zfill(6), identity.hex()) for mode, path, identity in entries(found)}


def _named(rows: Mapping[str, Entry], fresh: dict[str, Mapping[str, Entry]], like: str) -> str:
    """The id of a tree of `rows`, as gitformat-loose(5) has it: in order, a folder as if its name ended in `/`."""
    keyed = sorted((os.fsencode(name) + b"/" * (mode == _TREE), os.fsencode(name), mode, identity) for name, (mode, identity) in rows.items())
    data = b"".join(mode.lstrip("0").encode() + b" " + name + b"\0" + bytes.fromhex(identity) for _, name, mode, identity in keyed)
    made = id_of("tree", [data], len(data), like)
    fresh[made] = rows
    return made


def _line(name: str, entry: Entry) -> bytes:
    mode, identity = entry
    return f"{mode} {_KINDS.get(mode, 'blob')} {identity}\t".encode() + os.fsencode(name) + b"\0"
