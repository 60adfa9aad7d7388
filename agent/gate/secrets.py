"""Keys and passwords among the lines that a step adds: well-known ones, what is assigned or logged in with, and this process's own."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from agent.domain.allow import FALSE_ALARM
from agent.domain.change import AddedLines
from agent.domain.keys import KEY_BYTES, PRIVATE_KEY, own_keys, well_known
from agent.domain.text import one_line
from agent.gate.pieces import known_in_pieces, own_in_pieces
from agent.gate.protocol import Objection

_PATH_WIDTH = 120
_EXAMPLE = re.compile(r"example|placeholder|(?:x{8}|0{8}|\*{4})", re.IGNORECASE)
_INVENTED = re.compile(
    r"example|placeholder|test|dummy|fake|sample|mock|change|your|secret|pass|insert|todo|redact|1234567|abcdef|(.)\1{4}", re.IGNORECASE
)
_LOGIN = re.compile(
    r"\b[a-z][a-z0-9+.-]{0,30}://(?P<user>[^\s/@:'\"<>{}$]{1,100}):(?P<password>[^\s/@'\"<>{}$*%]{6,200})@(?P<host>[\w-]+(?:\.[\w-]+)+)",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(r"(?:key|token|secret|password)[\"']?\s?(?:=|:|:=|=>)\s?[\"'](?P<value>[\w.~+/=%-]{20,200})[\"']", re.IGNORECASE)
_RANDOM = 3.7  # bits a character; words and identifiers have less, the keys that issuers make more
_DIGITS = 2


class _Hit(Struct, frozen=True):
    """What was found: its kind, and the text by which a person may allow it, "" where nobody may."""

    kind: str
    text: str


def secrets(added: AddedLines, environment: Mapping[str, str]) -> tuple[Objection, ...]:
    """One objection for each line of `added` that holds a secret: file, line and kind, never the secret.

    Kinds are the well-known ones, private keys, passwords in addresses, random values that are assigned to a key's name, and the keys
    of `environment`; what is found here, `redact` takes out. What is none may be allowed by its fingerprint, but never a key of `environment`.
    """
    own = own_keys(environment)
    return tuple(
        _objection(
            f"{one_line(path, _PATH_WIDTH)}:{number} holds what looks like {hit.kind}: take it out and read it from the environment "
            "or from a file that git ignores.",
            hit,
        )
        for path, lines in added.items()
        for number, hit in _hits(lines, own)
    )


def secrets_told(texts: Iterable[tuple[str, str]], environment: Mapping[str, str]) -> tuple[Objection, ...]:
    """As `secrets`, for `texts` that are no files, each after what it is called ("your note")."""
    own = own_keys(environment)
    return tuple(
        _objection(f"Line {number} of {name} holds what looks like {hit.kind}: write it again without that.", hit)
        for name, text in texts
        for number, hit in _hits(list(enumerate(text.split("\n"), 1)), own)
    )


def _objection(told: str, hit: _Hit) -> Objection:
    return Objection(told, f"{FALSE_ALARM}{fingerprint(hit.text)}" if hit.text else "")


def fingerprint(secret: str) -> str:
    """Eight digits by which a person names a text that looks like a secret, without showing it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _hits(lines: Sequence[tuple[int, str]], own: Mapping[str, str]) -> Iterator[tuple[int, _Hit]]:
    for place, (number, raw) in enumerate(lines):
        text = raw.replace("\0", "")  # a file in UTF-16
        following = lines[place + 1][1] if place + 1 < len(lines) else ""
        hit = _own_value(text, own) or _prefixed(text) or _private_key(text, following) or _login(text) or _assigned(text)
        if hit:
            yield number, hit
    for number, name in own_in_pieces(lines, own):
        yield number, _Hit(f"the value of ${name}, in pieces", "")
    for number, kind, key in known_in_pieces(lines):
        if not _EXAMPLE.search(key):
            yield number, _Hit(f"{kind}, in pieces", key)


def _own_value(text: str, own: Mapping[str, str]) -> _Hit | None:
    return next((_Hit(f"the value of ${name}", "") for value, name in own.items() if value in text), None)


def _prefixed(text: str) -> _Hit | None:
    for kind, pattern in well_known(text):
        for match in pattern.finditer(text):
            if not _EXAMPLE.search(match[0]):
                return _Hit(kind, match[0])
    return None


def _private_key(text: str, following: str) -> _Hit | None:
    header = PRIVATE_KEY.search(text)
    found = header and (KEY_BYTES.search(text, header.end()) or KEY_BYTES.search(following))
    return _Hit("a private key", found[0]) if found else None


def _login(text: str) -> _Hit | None:
    """A password in an address, but those that are invented or the same as the name; hosts without a dot are somebody's own machine."""
    for match in _LOGIN.finditer(text):
        if match["password"] != match["user"] and not _INVENTED.search(match["password"]) and not _EXAMPLE.search(match["host"]):
            return _Hit("a password in an address", match["password"])
    return None


def _assigned(text: str) -> _Hit | None:
    for match in _ASSIGNED.finditer(text):
        value = match["value"]
        if _bits(value) >= _RANDOM and sum(char.isdigit() for char in value) >= _DIGITS and not _INVENTED.search(value):
            return _Hit("a key or password that is assigned", value)
    return None


def _bits(value: str) -> float:
    """Shannon's entropy of a character, in bits."""
    return -sum(count / len(value) * math.log2(count / len(value)) for count in Counter(value).values())
