"""Values out of JSON that a crash, an editor or anybody may have been at: of the very shape that a type says (`msgspec.convert`), or a ValueError."""

from __future__ import annotations

import json
from typing import Annotated, NoReturn

from msgspec import Meta, Struct

LARGEST = 10**15
"""No count, amount or span that agentctl keeps is larger, nor below 0."""

Count = Annotated[int, Meta(ge=0, lt=LARGEST)]
Quantity = Annotated[float, Meta(ge=0, lt=LARGEST)]

MOMENT = "%Y-%m-%dT%H:%M:%SZ"
"""How JSON holds a moment: RFC 3339, in UTC, to the second."""


class Stored(Struct, frozen=True, forbid_unknown_fields=True):
    """A value that is written as JSON and read again: of these keys, and no other."""


def parsed(text: str | bytes) -> object:
    """The JSON value that `text` is. Raises ValueError for anything else, deep nesting, NaN and infinities included."""
    try:
        value: object = json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return value


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")
