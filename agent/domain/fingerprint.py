"""Keeping files of one folder unlike each other, so that git never takes one for another's rename.

git calls two files a rename when more than half of the larger one's bytes stand, as whole lines or 64-byte pieces, in
the other (diffcore-rename, `estimate_similarity`); in a merge or a revert that invents conflicts between files that
nobody touched twice. So what may repeat stays under 40 % of a file.
"""

from __future__ import annotations

import base64
import hashlib

_SHARE = 0.4
_PIECE = 60  # bytes of a line that git hashes as one piece, with room for its line end


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
