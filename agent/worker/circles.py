"""Whether a session goes round in circles, from its recent tool calls alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

_SAME = 3  # times that one call may come to the same
_PERIODS = range(
    2, 9
)  # calls of a round that is walked a second time: the longest is write, run, finish and the gate's answer, in turn with another such
_IDLE = 30  # calls in a row without any change

# What differs between two runs of the same thing: durations, times of day, addresses.
_FLEETING = r"(?i)\b\d+(?:\.\d+)? ?(?:ms|s|seconds?)\b|\b\d+:\d\d(?::\d\d)?(?:\.\d+)?\b|\b0x[0-9a-f]+\b"


class Move(Struct, frozen=True):
    """One tool call and what came of it; `change` says whether the tree, the lessons or the proposals are other than before."""

    call: str
    result: str
    change: bool


def circle(moves: Sequence[Move]) -> str:
    """What is going round, as the end of a sentence, or "" where nothing is.

    The same call with the same result three times in a row, a round of up to eight calls walked twice with the same results,
    or thirty calls without a change. Results that differ only in durations, times of day or addresses are the same.
    """
    said = [(move.call, re.sub(_FLEETING, "", move.result)) for move in moves[-_PERIODS[-1] * 2 :]]
    if len(said) >= _SAME and len(set(said[-_SAME:])) == 1:
        return f"the same call came to the same result {_SAME} times in a row"
    for period in _PERIODS:
        if len(said) >= 2 * period and said[-period:] == said[-2 * period : -period]:
            return f"the same {period} calls came to the same results twice in a row"
    if len(moves) >= _IDLE and not any(move.change for move in moves[-_IDLE:]):
        return f"{_IDLE} calls in a row changed nothing"
    return ""
