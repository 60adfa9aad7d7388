"""Tokens of plain text, by looking its words up: for what a step or a brief counts, tiktoken takes ten times as long to get ready.

It is the same count: tiktoken's own pattern for cl100k_base (tiktoken_ext/openai_public.py) cuts the text, and each piece is merged by
the same ranks. Only for characters whose class no version of Unicode argues about: ASCII, and the dashes, quotes, dots and arrows that people type.
"""

from __future__ import annotations

import re
from binascii import b2a_base64
from bisect import bisect_left
from itertools import pairwise

# Of these, all beyond ASCII are neither letters, digits nor blanks.
_PLAIN = re.compile(r"[\x00-\x7f\xb7\xd7\u2010-\u2027\u2030-\u205e\u2190-\u21ff]*")
_PIECE = re.compile(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\na-zA-Z0-9]?+[a-zA-Z]++|[0-9]{1,3}+| ?[^\sa-zA-Z0-9]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s", re.ASCII
)
_BLOCK = 1024  # bytes of the lines between two that are remembered
_LONGEST = 200  # bytes of a piece that is no token itself; merging takes time by its square


def in_order(data: bytes) -> bytes:
    """The lines of a vocabulary as tiktoken's files have it (a token in base64 and its rank, by rank), as `Vocabulary` wants them."""
    return b"\n".join(sorted({b"", *data.split(b"\n")})) + b"\n"


class Vocabulary:
    """A vocabulary whose lines are `in_order`, looked up where they are: to make a dictionary of a hundred thousand takes ten times as long as a step's counts."""

    def __init__(self, lines: bytes) -> None:
        self._lines = lines
        starts = list(dict.fromkeys(lines.rindex(b"\n", 0, at) for at in range(1, len(lines), _BLOCK)))
        self._firsts = [lines[at + 1 : lines.index(b"\n", at + 1)] for at in starts]
        self._bounds = [0, *starts, len(lines)]  # of the blocks; before the first line there is an empty one
        self._known: dict[str, int] = {}

    def count(self, text: str) -> int | None:
        """How many tokens `text` is; None where it isn't plain, or has a piece that only tiktoken takes apart quickly."""
        if not _PLAIN.fullmatch(text):
            return None
        total = 0
        for piece in _PIECE.findall(text):
            if piece not in self._known:
                found = self._tokens(piece.encode())
                if found is None:
                    return None
                self._known[piece] = found
            total += self._known[piece]
        return total

    def _tokens(self, piece: bytes) -> int | None:
        if self.rank(piece) is not None:
            return 1
        if len(piece) > _LONGEST:
            return None
        parts = [piece[at : at + 1] for at in range(len(piece))]
        ranks = [self.rank(left + right) for left, right in pairwise(parts)]
        while known := [rank for rank in ranks if rank is not None]:
            at = ranks.index(min(known))
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
            ranks[at : at + 1] = []
            for near in (at - 1, at):
                if 0 <= near < len(ranks):
                    ranks[near] = self.rank(parts[near] + parts[near + 1])
        return len(parts)

    def rank(self, token: bytes) -> int | None:
        """The rank of `token`, None where it is none."""
        wanted = b2a_base64(token, newline=False) + b" "  # which comes before all that base64 has, so that lines are in the order of their tokens
        block = bisect_left(self._firsts, wanted + b":")  # what follows is a number
        at = self._lines.find(b"\n" + wanted, self._bounds[block], self._bounds[block + 1])
        return None if at < 0 else int(self._lines[at + 1 + len(wanted) : self._lines.index(b"\n", at + 1)])
