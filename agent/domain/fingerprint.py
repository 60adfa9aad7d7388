"""Keeping files of one folder unlike each other, so that git never takes one for another's rename.

git calls two files a rename when more than half of the larger one's bytes stand, as whole lines or 64-byte pieces, in
the other (diffcore-rename, `estimate_similarity`); in a merge or a revert that invents conflicts between files that
nobody touched twice. So what may repeat stays under 40 % of a file.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence

SHORT = 400
"""Bytes of text; one that is shorter may be the same in two files, a longer one is taken to be the file's own."""

_SHARE = 0.4
_PIECE = 60  # bytes of a line that git hashes as one piece, with room for its line end
_HASHED = re.compile(rb"[^\n]{64}|[^\n]{0,63}\n|[^\n]{1,63}\Z")  # git's pieces: up to a line end, at most 64 bytes
_HEAD_END = "\n---\n"


def keep_apart(head: list[str], body: str, seed: str, repeats: int) -> str:
    """A file of YAML lines `head` and `body`, of whose bytes at most 40 % may repeat in its siblings.

    `repeats` counts the bytes that siblings may share. Where they are too many, comment lines drawn from `seed` (unique
    to the file) are added to the head; they depend on nothing else, so that a file rendered again is the same.
    """
    fences = len("---\n---\n\n")
    whole = sum(len(line.encode()) + 1 for line in head) + len(body.encode()) + fences
    missing = (repeats + fences) / _SHARE - whole
    return "\n".join(["---", *head, *_filler(seed, missing), "---", body])


def _filler(seed: str, missing: float) -> list[str]:
    lines: list[str] = []
    while missing > 0:
        digest = hashlib.sha512(f"{seed} {len(lines)}".encode()).digest()
        lines.append("# " + base64.b32encode(digest).decode().lower()[: _PIECE - 2])
        missing -= _PIECE
    if lines:
        lines.insert(0, f"# {seed}: kept unlike its siblings for git")
    return lines


def keep_all_apart(files: Sequence[tuple[str, str]], others: Iterable[str] = ()) -> list[tuple[str, str]]:
    """`files` (path, text as our renderers write it) that are to stand beside each other and beside texts such as `others`.

    Where more than 40 % of one repeats in the rest (items made from one template, notes with one reason), comment lines
    that follow from its path are added to its head; nothing that a reader reads changes.
    """
    pieces = [_HASHED.findall(text.encode()) for _, text in files]
    seen = Counter(piece for own in pieces for piece in set(own))
    seen.update({piece for text in others for piece in _HASHED.findall(text.encode())})
    return [
        (path, _with_filler(path.rpartition("/")[2].removesuffix(".md"), text, sum(len(piece) for piece in own if seen[piece] > 1)))
        for (path, text), own in zip(files, pieces, strict=True)
    ]


def stand_apart(path: str, text: str) -> str:
    """`text` as the file at `path`, of which a short text may be the whole of another file too (one written on another branch, say)."""
    size = len(text.encode())
    return _with_filler(path.removesuffix(".md"), text, size) if size < SHORT else text


def _with_filler(seed: str, text: str, repeats: int) -> str:
    if repeats <= len(text.encode()) * _SHARE:
        return text
    headed = text if text.startswith("---\n") else f"---\n---\n{text}"
    filler = _filler(seed, (repeats + len("---\n---\n")) / _SHARE - len(headed.encode()))
    place = headed.index(_HEAD_END, 3) if _HEAD_END in headed[3:] else 3
    return "\n".join([headed[:place], *filler]) + headed[place:]
