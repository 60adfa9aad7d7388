"""What was spent, call by call: one line each in a file of the repository that no revert reaches."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, field

from agent.domain.shape import LARGEST, parsed
from agent.domain.usage import Usage, summed
from agent.durable import append_line, read_own, write_hint

_VERSION = 2
_HOLD = re.compile(rb'"hold": "([0-9a-f]+)"')
_WORTH_KEEPING = 65_536  # bytes of the ledger; adding up less takes about 1 ms


class Call(Struct, frozen=True):
    """One model call: when it was sent (ISO 8601, UTC), for which step and item, by which model, and what it used.

    `hold` is the name of the hold that stood for it until its cost was known, "" where none did.
    """

    at: str
    step: str
    item: str
    model: str
    usage: Usage
    hold: str = ""


class Spent(NamedTuple):
    """What one step used with one model on one day (UTC)."""

    step: str
    day: str
    item: str
    model: str
    usd: float | None
    input: int
    cached: int
    output: int
    seconds: float

    @classmethod
    def of(cls, step: str, day: str, item: str, model: str, usage: Usage) -> Spent:
        """That `usage`."""
        return cls(step, day, item, model, usage.usd, usage.input, usage.cached, usage.output, usage.seconds)

    @property
    def usage(self) -> Usage:
        """What was used, as one value: made when it is asked for, as there are thousands."""
        return Usage(self.usd, self.input, self.cached, self.output, self.seconds)


class Sums(NamedTuple):
    """All that the first `end` bytes of a ledger hold, added up; `torn` lines of it can't be read."""

    spent: list[Spent]
    torn: int
    end: int


_Sums = dict[tuple[str, str, str, str, bool], Spent]  # by step, day, item, model, and whether the price is known


class _Known(Struct):
    """What the first `bytes` of the file add up to."""

    bytes: int = 0
    torn: int = 0
    sums: _Sums = field(default_factory=dict)


class Ledger:
    """The ledger in `folder`, shared by all work trees of a repository. Raises OSError where it is there but can't be read."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "ledger.jsonl"
        self._sums = folder / "cache" / f"ledger-{_VERSION}.json"

    def add(self, call: Call) -> None:
        """Append `call`; on disk when this returns."""
        usage = call.usage
        line = {
            "at": call.at, "step": call.step, "item": call.item, "model": call.model,
            "usd": usage.usd, "input": usage.input, "cached": usage.cached, "output": usage.output, "seconds": usage.seconds,
            **({"hold": call.hold} if call.hold else {}),
        }  # fmt: skip
        append_line(self._path, json.dumps(line, ensure_ascii=False))

    def read(self) -> tuple[list[Call], int]:
        """All calls in their order, and how many lines could not be read (torn by a crash)."""
        return _calls(self._bytes())

    def of(self, step: str) -> tuple[int, Usage]:
        """How many calls were made for `step`, and what they used."""
        mine = [call.usage for call in self.read()[0] if call.step == step]
        return len(mine), summed(mine)

    def since(self, start: int) -> tuple[list[Call], int]:
        """The calls that were added after the first `start` bytes, and the size by now."""
        data = self._bytes(start)
        return _calls(data)[0], start + len(data)

    def size(self) -> int:
        """Bytes of the file, 0 where there is none."""
        try:
            return self._path.stat().st_size
        except FileNotFoundError:
            return 0

    def settled(self, start: int) -> set[str]:
        """The names of holds that calls after the first `start` bytes have settled."""
        return {name.decode() for name in _HOLD.findall(self._bytes(start))}

    def sums(self) -> Sums:
        """All calls, added up by step, day, item and model, in the order in which these first came.

        Sums of most of the file are kept in a cache, which counts only while the bytes that it was made from are still there.
        """
        data = self._bytes()
        known = self._kept(data)
        fresh = data[known.bytes :]
        calls, torn = _calls(fresh)
        _add(known.sums, calls)
        known.torn += torn
        if len(fresh) > _WORTH_KEEPING and data.endswith(b"\n"):
            self._keep(data, known)
        return Sums([*known.sums.values()], known.torn, len(data))

    def _bytes(self, start: int = 0) -> bytes:
        try:
            return read_own(self._path, start)
        except FileNotFoundError:
            return b""

    def _kept(self, data: bytes) -> _Known:
        """What the cache has added up."""
        try:
            stored: Any = parsed(read_own(self._sums))
            known = int(stored["bytes"])
            if hashlib.sha256(memoryview(data)[:known]).hexdigest() != stored["sha256"]:
                return _Known()
            sums = {(*one[:4], one.usd is None): one for one in map(Spent._make, stored["sums"])}
            return _Known(known, int(stored["torn"]), sums)
        except (OSError, ValueError, KeyError, TypeError, OverflowError):
            return _Known()

    def _keep(self, data: bytes, known: _Known) -> None:
        stored = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), "torn": known.torn, "sums": [*known.sums.values()]}
        with contextlib.suppress(OSError):
            write_hint(self._sums, json.dumps(stored).encode())


def _add(sums: _Sums, calls: Iterable[Call]) -> None:
    for call in calls:
        origin, usage = (call.step, call.at[:10], call.item, call.model), call.usage
        key = (*origin, usage.usd is None)
        sums[key] = Spent.of(*origin, sums[key].usage + usage if key in sums else usage)


def _calls(data: bytes) -> tuple[list[Call], int]:
    calls, torn = [], 0
    for line in data.split(b"\n"):
        if not line:
            continue
        try:
            calls.append(_call(parsed(line)))
        except (ValueError, KeyError, TypeError):
            torn += 1
    return calls, torn


def _call(line: Any) -> Call:
    """Raises ValueError where a number isn't one that can be added up: what a broken line says must not lower a sum."""
    usd = line["usd"]
    amount = None if usd is None else float(str(usd))
    usage = Usage(amount, int(str(line["input"])), int(str(line["cached"])), int(str(line["output"])), float(str(line["seconds"])))
    if not all(0 <= number < LARGEST for number in (amount or 0.0, usage.input, usage.cached, usage.output, usage.seconds)):
        raise ValueError(line)
    return Call(str(line["at"]), str(line["step"]), str(line["item"]), str(line["model"]), usage, str(line.get("hold", "")))
