"""Inputs of two kinds: anything at all, and something valid that was damaged."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

_LAUGHS = "".join(f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True))
BILLION_LAUGHS = f"a: &a [lol, lol]\n{_LAUGHS}"

NUMBERS = (
    *("0", "-1", "-0", "1.5", "1e999", "-1e999", "1e308", "1e-320", ".nan", ".inf", "-.inf", "nan", "inf", "NaN", "Infinity", "-Infinity"),
    *("9" * 25, "9" * 400, "9" * 5000, "0" * 5000, "0x10", "0o17", "1_000", "٣", "²", "१२", "99999999999999", str(2**31), str(2**63), str(2**64)),
)
FRAGMENTS = (
    *("\0", "\t", "\r", "\r\n", "\n\n", " " * 200, "\x07", "\x1b[2J", "\x7f", "\x85", "\u2028", "\u202e", "\ufeff", "\ufffe", "\U000e0041", "é", "𝔘"),
    *("---\n", "\n---\n", "...\n", "--- a\n", "# ", "#", ":", ": ", "- ", "? ", "| ", ">-\n", "&a ", "*a", "&a [*a]", "&a {x: *a}", "<<: *a\n", "!!", "! "),
    *("!!python/object/apply:os.system [id]", "!!python/name:os.system", "!!binary aGk=", "!!set {a}", "!!timestamp x", "!!int x", "!x y", "%YAML 9.9\n---\n"),
    *("<<<<<<< HEAD\n", "=======\n", ">>>>>>> x\n", "{", "}", "[", "]", '"', "'", "\\", "`", "```\n", "~~~\n", '"\\ud800"', '"\\x00"', '"\\u0000"'),
    *("null", "~", "true", "[]", "{}", "{a: b}", "[a, b]", "- a\n- b\n", "a: b\n", "a: b: c\n", "\nkey: value\n", "\n\tkey: value\n", "\nkey: 1\nkey: 2\n"),
    *("## Handoff\n", "Agent-Step: 2026-11-29-130355-x\n", "Agent-Tokens: 1 in, 2 cached, 3 out\n", "../../../etc/passwd", "/dev/zero", "con", "~", "$(id)"),
    *("[" * 1500, "{a: " * 1500, "- " * 1500, "? " * 1500, "> " * 1500, '{"a":' * 1500, "(" * 1500, BILLION_LAUGHS, "x" * 20_000, "\n" * 5_000, "a b " * 3_000),
)  # fmt: skip
_BYTES = (
    *(text.encode() for text in FRAGMENTS),
    b"\xff",
    b"\xfe\xff",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xc0\xaf",
    b"\xf4\x90\x80\x80",
    b"\x80",
    b"\xe2\x28\xa1",
)
_DIGITS = re.compile(rb"\d+(?:\.\d+)?")

ANY_BYTES = st.binary(max_size=300) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")) | st.lists(
    st.sampled_from(_BYTES) | st.sampled_from([number.encode() for number in NUMBERS]), max_size=8
).map(b"".join)  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn, valid: st.SearchStrategy[bytes]) -> bytes:
    """Something valid after one to four blows."""
    data = draw(valid)
    for _ in range(draw(st.integers(1, 4))):
        data = draw(st.sampled_from(_BLOWS))(draw, data)
    return data


def _place(draw: st.DrawFn, data: bytes) -> int:
    return draw(st.integers(0, len(data)))


def _span(draw: st.DrawFn, data: bytes) -> tuple[int, int]:
    one, other = _place(draw, data), _place(draw, data)
    return min(one, other), max(one, other)


def _insert(draw: st.DrawFn, data: bytes) -> bytes:
    at = _place(draw, data)
    return data[:at] + draw(st.sampled_from(_BYTES)) + data[at:]


def _insert_at_line(draw: st.DrawFn, data: bytes) -> bytes:
    lines = data.split(b"\n")
    at = draw(st.integers(0, len(lines)))
    return b"\n".join([*lines[:at], draw(st.sampled_from(_BYTES)), *lines[at:]])


def _flip(draw: st.DrawFn, data: bytes) -> bytes:
    at = _place(draw, data)
    return data[:at] + bytes([draw(st.integers(0, 255))]) + data[at + 1 :]


def _cut(draw: st.DrawFn, data: bytes) -> bytes:
    start, end = _span(draw, data)
    return data[:start] + data[end:]


def _double(draw: st.DrawFn, data: bytes) -> bytes:
    start, end = _span(draw, data)
    return data[:end] + data[start:end] * draw(st.sampled_from([1, 2, 40])) + data[end:]


def _lines(draw: st.DrawFn, data: bytes) -> bytes:
    lines = data.split(b"\n")
    chosen = draw(st.lists(st.sampled_from(range(len(lines))), max_size=len(lines) + 2))
    return b"\n".join(lines[place] for place in chosen)


def _number(draw: st.DrawFn, data: bytes) -> bytes:
    found = list(_DIGITS.finditer(data))
    if not found:
        return data
    match = draw(st.sampled_from(found))
    return data[: match.start()] + draw(st.sampled_from(NUMBERS)).encode() + data[match.end() :]


def _value(draw: st.DrawFn, data: bytes) -> bytes:
    """What stands behind a colon is another thing."""
    found = list(re.finditer(rb": ?[^\n,}\]]*", data))
    if not found:
        return data
    match = draw(st.sampled_from(found))
    other = draw(st.sampled_from([*_BYTES, *(number.encode() for number in NUMBERS)]))
    return data[: match.start()] + b": " + other + data[match.end() :]


def _line_ends(draw: st.DrawFn, data: bytes) -> bytes:
    return data.replace(b"\n", draw(st.sampled_from([b"\r\n", b"\r", b"\n\n", b"\xe2\x80\xa8", b""])))


def _marked(draw: st.DrawFn, data: bytes) -> bytes:
    return draw(st.sampled_from([b"\xef\xbb\xbf", b"\xff\xfe", b"\0", b"\n", b" ", b"\t"])) + data


_BLOWS = (_insert, _insert_at_line, _flip, _cut, _double, _lines, _number, _number, _value, _value, _line_ends, _marked)

ODD = (
    st.none() | st.booleans() | st.sampled_from([0, -1, 1, 2**63, 10**30, 10**4000, 1.5, float("inf"), float("nan"), 1e308])
    | st.sampled_from(["", "x", "\0", "\ud800", "\u202e", "9" * 5000, "1e999", "2026-11-29", "x" * 10_000, "../../x", [], {}, [[]], {"a": {}}])
    | st.text(max_size=8)
)  # fmt: skip
JSON = st.recursive(ODD, lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=5), part, max_size=3), max_leaves=5)


@st.composite
def warped(draw: st.DrawFn, valid: st.SearchStrategy[Any]) -> Any:
    """A JSON value after one to three of its parts were taken out, put elsewhere, or became something else."""
    value = json.loads(json.dumps(draw(valid)))
    for _ in range(draw(st.integers(1, 3))):
        value = _warp(draw, value)
    return value


def _warp(draw: st.DrawFn, value: Any) -> Any:
    places = list(_places(value))
    if not places:
        return deepcopy(draw(JSON))
    holder, key = draw(st.sampled_from(places))
    match draw(st.sampled_from(["change", "change", "drop", "add", "nest"])):
        case "change":
            holder[key] = deepcopy(draw(JSON))
        case "drop":
            del holder[key]
        case "add" if isinstance(holder, dict):
            holder[draw(st.sampled_from(["x", "", "__class__", "self", "\ud800"]))] = deepcopy(draw(JSON))
        case "add":
            holder.append(deepcopy(draw(JSON)))
        case "nest":
            holder[key] = [holder[key]]
    return value


def _places(value: Any) -> Sequence[tuple[Any, Any]]:
    keys: Sequence[Any] = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [(value, key) for key in keys] + [place for key in keys for place in _places(value[key])]


def damaged_json(valid: st.SearchStrategy[Any]) -> st.SearchStrategy[bytes]:
    """A JSON text of another shape, or one that is broken as a text."""
    return warped(valid).map(_dumped) | damaged(valid.map(_dumped))


def _dumped(value: Any) -> bytes:
    return json.dumps(value).encode()
