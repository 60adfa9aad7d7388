"""The fewest `order:` numbers to write so that items come in a wanted sequence."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

_STEP = 10
_DIGITS = 6  # places behind the point that a number between two others may take


class Slot(Struct, frozen=True):
    """An item at its wanted place: its order, and its rank among items without one (any values that sort as they arrive)."""

    order: float | None
    rank: tuple[float, str]


def reorder(wanted: Sequence[Slot]) -> dict[int, float]:
    """New orders by place in `wanted`, so that `in_order` gives that sequence; the others stay untouched.

    Items without an order come after all that have one, as they arrived: the longest end of `wanted` that does so anyhow keeps none. Before it
    a longest run of rising orders stays (Schensted 1961, by patience sorting), and what lies between gets numbers between.
    """
    end = _end_that_stays(wanted)
    kept = _rising([(place, slot.order, slot.rank) for place, slot in enumerate(wanted[:end]) if slot.order is not None])
    numbers: dict[int, float] = {}
    low: float | None = None
    moved: list[int] = []
    for place in range(end):
        order = wanted[place].order
        fitting = _between(low, order, len(moved)) if place in kept and order is not None else None
        if fitting is None:
            moved.append(place)
            continue
        numbers.update(zip(moved, fitting, strict=True))
        low, moved = order, []
    numbers.update(zip(moved, _behind(low, len(moved)), strict=True))
    return numbers


def _end_that_stays(wanted: Sequence[Slot]) -> int:
    place = len(wanted)
    while place > 0 and wanted[place - 1].order is None and (place == len(wanted) or wanted[place - 1].rank < wanted[place].rank):
        place -= 1
    return place


def _rising(slots: Sequence[tuple[int, float, tuple[float, str]]]) -> frozenset[int]:
    """The places of a longest subsequence that rises by order, then rank."""
    tails: list[tuple[float, tuple[float, str]]] = []
    at_tail: list[int] = []
    before: list[int] = []
    for index, (_, order, rank) in enumerate(slots):
        length = bisect_left(tails, (order, rank))
        before.append(at_tail[length - 1] if length else -1)
        tails[length : length + 1] = [(order, rank)]
        at_tail[length : length + 1] = [index]
    found: list[int] = []
    index = at_tail[-1] if at_tail else -1
    while index >= 0:
        found.append(slots[index][0])
        index = before[index]
    return frozenset(found)


def _between(low: float | None, high: float, count: int) -> list[float] | None:
    """`count` rising numbers above `low` and below `high`, as short as they can be; None where there is no room."""
    if count == 0:
        return [] if low is None or low <= high else None
    if low is None:
        low = 0.0 if high > 0 else high - _STEP * (count + 1)
    gap = (high - low) / (count + 1)
    for digits in range(_DIGITS + 1):
        numbers = [round(low + gap * (place + 1), digits) for place in range(count)]
        steps = [low, *numbers, high]
        if all(one < other for one, other in pairwise(steps)):
            return numbers
    return None


def _behind(low: float | None, count: int) -> list[float]:
    start = 0 if low is None else math.floor(low / _STEP) * _STEP
    return [float(start + _STEP * (place + 1)) for place in range(count)]
