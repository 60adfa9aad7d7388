"""Keys and passwords among the lines that a step adds: well-known ones, and this process's own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from agent.domain.change import AddedLines
from agent.domain.keys import KEY_BYTES, PRIVATE_KEY, WELL_KNOWN, own_keys
from agent.domain.text import one_line

_PATH_WIDTH = 120
_EXAMPLE = re.compile(r"example|placeholder|(?:x{8}|0{8}|\*{4})", re.IGNORECASE)


def secrets(added: AddedLines, environment: Mapping[str, str]) -> tuple[str, ...]:
    """One sentence for each line of `added` that holds a secret: file, line and kind, never the secret.

    Kinds are the well-known ones, private keys, and the keys of `environment`; all as `agent.domain.keys` knows them.
    """
    own = own_keys(environment)
    return tuple(
        f"{one_line(path, _PATH_WIDTH)}:{number} holds what looks like {kind}: take it out and read it from the environment "
        "or from a file that git ignores."
        for path, lines in added.items()
        for number, kind in _hits(lines, own)
    )


def _hits(lines: Sequence[tuple[int, str]], own: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    for place, (number, text) in enumerate(lines):
        following = lines[place + 1][1] if place + 1 < len(lines) else ""
        kind = _own_value(text, own) or _prefixed(text) or _private_key(text, following)
        if kind:
            yield number, kind


def _own_value(text: str, own: Mapping[str, str]) -> str:
    return next((f"the value of ${name}" for value, name in own.items() if value in text), "")


def _prefixed(text: str) -> str:
    for kind, pattern in WELL_KNOWN:
        if any(not _EXAMPLE.search(match[0]) for match in pattern.finditer(text)):
            return kind
    return ""


def _private_key(text: str, following: str) -> str:
    header = PRIVATE_KEY.search(text)
    if header and (KEY_BYTES.search(text, header.end()) or KEY_BYTES.search(following)):
        return "a private key"
    return ""
