"""Values out of JSON that a crash, an editor or anybody may have been at: of the very shape that a type says, or a ValueError."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, NoReturn, TypeVar, Union, cast, get_args, get_origin, get_type_hints

LARGEST = 10**15
"""No count, amount or span that agentctl keeps is larger, nor below 0."""

MOMENT = "%Y-%m-%dT%H:%M:%SZ"
"""How JSON holds a moment: RFC 3339, in UTC, to the second."""

_T = TypeVar("_T")


def parsed(text: str | bytes) -> object:
    """The JSON value that `text` is. Raises ValueError for anything else, deep nesting, NaN and infinities included."""
    try:
        value: object = json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return value


def shaped(kind: type[_T], value: object) -> _T:
    """`value`, as JSON holds it, as a `kind`: a dataclass, or what its fields may be. Raises ValueError where it is anything else."""
    return cast("_T", _shaped(kind, value))


def _shaped(kind: Any, value: object) -> object:
    origin, inner = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return _dataclass(kind, value)
    if origin in (Union, UnionType):
        return _either(inner, value)
    if origin is tuple:
        return _tuple(inner, value)
    if origin is not None and issubclass(origin, Mapping):
        return {_shaped(inner[0], key): _shaped(inner[1], one) for key, one in _a(dict, value).items()}
    return _SIMPLE[kind](value)


def _dataclass(kind: Any, value: object) -> object:
    given = _a(dict, value)
    known = _fields(kind)
    if given.keys() - known.keys() or any(name not in given for name, (_, needed) in known.items() if needed):
        raise ValueError(f"{kind.__name__} has other keys")
    return kind(**{name: _shaped(known[name][0], one) for name, one in given.items()})


@cache
def _fields(kind: Any) -> Mapping[str, tuple[Any, bool]]:
    """Each field's type, and whether it has no default."""
    hints = get_type_hints(kind)
    own: tuple[Field[Any], ...] = fields(kind)
    return {one.name: (hints[one.name], one.default is MISSING and one.default_factory is MISSING) for one in own}


def _either(kinds: tuple[Any, ...], value: object) -> object:
    if value is None and NoneType in kinds:
        return None
    return next(_shaped(kind, value) for kind in kinds if kind is not NoneType)


def _tuple(inner: tuple[Any, ...], value: object) -> tuple[object, ...]:
    given = _a(list, value)
    kinds = inner[:1] * len(given) if inner[-1] is Ellipsis else inner
    return tuple(_shaped(kind, one) for kind, one in zip(kinds, given, strict=True))


def _a(kind: type[_T], value: object) -> _T:
    if type(value) is not kind:
        raise ValueError(f"{type(value).__name__} in place of {kind.__name__}")
    return value


def _number(value: object) -> float:
    number = value if type(value) is int else _a(float, value)
    if not 0 <= number < LARGEST:
        raise ValueError("a number out of bounds")
    return number


def _count(value: object) -> int:
    return int(_number(_a(int, value)))


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _moment(value: object) -> datetime:
    return datetime.strptime(_a(str, value), MOMENT).replace(tzinfo=UTC)


_SIMPLE: Mapping[Any, Callable[[object], object]] = {
    str: lambda value: _a(str, value),
    bool: lambda value: _a(bool, value),
    int: _count,
    float: _number,
    datetime: _moment,
}
