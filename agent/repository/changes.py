"""What differs between two trees, as the gate wants to know it."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping

from agent.domain.change import GITLINK, AddedLines, Change, Kind
from agent.repository.repo import FOLDER, Repo
from agent.repository.snapshot import entries_of

_KINDS: dict[str, Kind] = {"A": "added", "D": "deleted"}
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb'\\([abtnvfr"\\]|[0-7]{3})')
_ESCAPES = dict(zip((bytes([letter]) for letter in b'abtnvfr"\\'), (bytes([code]) for code in b'\a\b\t\n\v\f\r"\\'), strict=True))


def changes_between(repo: Repo, old: str, new: str) -> tuple[Change, ...]:
    """The files that differ between two commits or trees, by path relative to the repository's top."""
    raw = os.fsdecode(repo.git.run("diff-tree", "-r", "-z", "--no-renames", "--raw", "--numstat", old, new))
    fields = raw.split("\0")
    meta: dict[str, tuple[str, str, str]] = {}
    lines: dict[str, tuple[int | None, int | None]] = {}
    at = 0
    while at < len(fields) and fields[at]:
        if fields[at].startswith(":"):
            old_mode, mode, _, blob, letter = fields[at].removeprefix(":").split(" ")
            meta[fields[at + 1]] = (old_mode if letter == "D" else mode, blob, letter)
            at += 2
            continue
        added, deleted, path = fields[at].split("\t", 2)
        lines[path] = (None, None) if added == "-" else (int(added), int(deleted))
        at += 1
    sizes = _sizes(repo, [blob for mode, blob, letter in meta.values() if letter != "D" and mode != GITLINK])
    return tuple(_change(path, told, lines.get(path, (0, 0)), sizes) for path, told in sorted(meta.items()))


def changed_between(repo: Repo, old: str, new: str) -> Mapping[str, str]:
    """Paths relative to the top that differ between two commits or trees, each with its status letter (A, M, D, T)."""
    out = os.fsdecode(repo.git.run("diff-tree", "-r", "-z", "--no-renames", "--name-status", old, new)).split("\0")
    return dict(zip(out[1::2], out[0::2], strict=False))


def _change(path: str, told: tuple[str, str, str], lines: tuple[int | None, int | None], sizes: dict[str, int]) -> Change:
    mode, blob, letter = told
    return Change(
        path=path,
        kind=_KINDS.get(letter, "modified"),
        added_lines=lines[0],
        deleted_lines=lines[1],
        bytes=sizes.get(blob, 0),
        mode=mode,
    )


def moved_links(repo: Repo, old: str, new: str) -> dict[str, tuple[str, str]]:
    """The submodules of `old` that stand elsewhere in `new` or are gone from it: by path, what each holds there (zeros for nothing)."""
    fields = os.fsdecode(repo.git.run("diff-tree", "-r", "-z", "--no-renames", "--raw", old, new)).split("\0")
    told = zip(fields[1::2], (field.removeprefix(":").split(" ") for field in fields[0::2]), strict=False)
    return {path: (before, after) for path, (mode, _, before, after, _) in told if mode == GITLINK}


def both_texts(repo: Repo, old: str, new: str, paths: Collection[str]) -> dict[str, tuple[str | None, str | None]]:
    """What each of `paths` (relative to the top) that differs holds in two trees, None where it is no file there; bytes that aren't UTF-8 are replaced."""
    if not paths:
        return {}
    before, after = (entries_of(repo, tree, list(paths)) for tree in (old, new))
    differing = [path for path in paths if before.get(path) != after.get(path)]
    ids = {path: (_file_id(before.get(path)), _file_id(after.get(path))) for path in differing}
    wanted = sorted({identity for pair in ids.values() for identity in pair if identity})
    texts = dict(zip(wanted, repo.blobs(wanted), strict=True))
    return {path: (_text(texts.get(one)), _text(texts.get(other))) for path, (one, other) in ids.items()}


def _file_id(entry: tuple[str, str] | None) -> str:
    return entry[1] if entry and entry[0].startswith("100") else ""


def _text(blob: bytes | None) -> str | None:
    return None if blob is None else blob.decode("utf-8", "replace")


def _sizes(repo: Repo, blobs: list[str]) -> dict[str, int]:
    return {found.id: found.size for found in repo.git.objects.facts(blobs) if found}


def patch_of(repo: Repo, commit: str) -> str:
    """What `commit` changed in `.agent/`, as a patch; "" for no commit."""
    if not commit:
        return ""
    shown = ("-p", "--no-renames", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/")
    out = repo.git.run("diff-tree", "-r", "--root", "--no-commit-id", *shown, commit, "--", f"{repo.prefix}{FOLDER}")
    return out.decode("utf-8", "replace")


def added_lines(repo: Repo, old: str, new: str) -> AddedLines:
    """The lines that `new` adds, by path: (line number, text). Of any file, whatever its bytes are and the attributes say that they are."""
    out = repo.git.run(
        "diff-tree", "-r", "-p", "-U0", "--text", "--no-renames", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", old, new
    )
    return _added_in(out)


def _added_in(patch: bytes) -> AddedLines:
    """The added lines of a patch, told from its headers by the counts in `@@ -a,b +c,d @@`: an added line may begin with `++ ` or look like any header."""
    found: dict[str, list[tuple[int, str]]] = {}
    path, line, old_left, new_left = "", 0, 0, 0
    for text in patch.split(b"\n"):
        if not old_left and not new_left:
            if hunk := _HUNK.match(text):
                old_left, line, new_left = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
            elif text.startswith(b"+++ "):
                path = _new_path(text[4:])
        elif text.startswith(b"+"):
            found.setdefault(path, []).append((line, text[1:].decode("utf-8", "replace")))
            line, new_left = line + 1, new_left - 1
        elif text.startswith(b"-"):
            old_left -= 1
        elif not text.startswith(b"\\"):  # `\ No newline at end of file` counts for nothing, what is on both sides for both
            line, old_left, new_left = line + 1, old_left - 1, new_left - 1
    return found


def _new_path(header: bytes) -> str:
    """The path behind `+++ `: `b/` before it, a tab after one that has blanks, quoted as in C where it has stranger characters."""
    if header.startswith(b'"'):
        header = _ESCAPE.sub(lambda match: _ESCAPES.get(match[1]) or bytes([int(match[1], 8)]), header[1:-1])
    else:
        header = header.rstrip(b"\t")
    return os.fsdecode(header.removeprefix(b"b/"))
