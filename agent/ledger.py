"""What was spent, call by call: one line each in a file of the repository that no revert reaches."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from agent.domain.usage import Usage, summed
from agent.durable import append_line, write_whole

_VERSION = 1
_WORTH_KEEPING = 65_536  # bytes of the ledger; adding up less takes about 1 ms


@dataclass(frozen=True)
class Call:
    """One model call: when (ISO 8601, UTC), for which step and item, by which model, and what it used."""

    at: str
    step: str
    item: str
    model: str
    usage: Usage


class Spent(NamedTuple):
    """What one step used with one model on one day (UTC)."""

    step: str
    day: str
    item: str
    model: str
    usage: Usage


_Sums = dict[tuple[str, str, str, str, bool], Usage]  # by step, day, item, model, and whether the price is known


class Ledger:
    """The ledger in `folder`, shared by all work trees of a repository."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "ledger.jsonl"
        self._sums = folder / "cache" / f"ledger-{_VERSION}.json"

    def add(self, call: Call) -> None:
        """Append `call`; on disk when this returns."""
        usage = call.usage
        line = {
            "at": call.at, "step": call.step, "item": call.item, "model": call.model,
            "usd": usage.usd, "input": usage.input, "cached": usage.cached, "output": usage.output, "seconds": usage.seconds,
        }  # fmt: skip
        append_line(self._path, json.dumps(line, ensure_ascii=False))

    def read(self) -> tuple[list[Call], int]:
        """All calls in their order, and how many lines could not be read (torn by a crash)."""
        return _calls(self._bytes())

    def of(self, step: str) -> tuple[int, Usage]:
        """How many calls were made for `step`, and what they used."""
        mine = [call.usage for call in self.read()[0] if call.step == step]
        return len(mine), summed(mine)

    def sums(self) -> list[Spent]:
        """All calls, added up by step, day, item and model, in the order in which these first came.

        Sums of most of the file are kept in a cache, which counts only while the bytes that it was made from are still there.
        """
        data = self._bytes()
        known, sums = self._kept(data)
        fresh = data[known:]
        _add(sums, _calls(fresh)[0])
        if len(fresh) > _WORTH_KEEPING and data.endswith(b"\n"):
            self._keep(data, sums)
        return [Spent(step, day, item, model, usage) for (step, day, item, model, _), usage in sums.items()]

    def _bytes(self) -> bytes:
        try:
            return self._path.read_bytes()
        except OSError:
            return b""

    def _kept(self, data: bytes) -> tuple[int, _Sums]:
        """How many bytes of `data` the cache has added up, and the sums."""
        try:
            stored = json.loads(self._sums.read_bytes())
            known = int(stored["bytes"])
            if hashlib.sha256(memoryview(data)[:known]).hexdigest() != stored["sha256"]:
                return 0, {}
            return known, {(step, day, item, model, usage[0] is None): Usage(*usage) for step, day, item, model, *usage in stored["sums"]}
        except (OSError, ValueError, KeyError, TypeError):
            return 0, {}

    def _keep(self, data: bytes, sums: _Sums) -> None:
        rows = [[*key[:4], one.usd, one.input, one.cached, one.output, one.seconds] for key, one in sums.items()]
        stored = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), "sums": rows}
        with contextlib.suppress(OSError):
            write_whole(self._sums, json.dumps(stored).encode())


def _add(sums: _Sums, calls: Iterable[Call]) -> None:
    for call in calls:
        key = (call.step, call.at[:10], call.item, call.model, call.usage.usd is None)
        sums[key] = sums[key] + call.usage if key in sums else call.usage


def _calls(data: bytes) -> tuple[list[Call], int]:
    calls, torn = [], 0
    for line in data.split(b"\n"):
        if not line:
            continue
        try:
            calls.append(_call(json.loads(line)))
        except (ValueError, KeyError, TypeError):
            torn += 1
    return calls, torn


def _call(line: dict[str, object]) -> Call:
    usd = line["usd"]
    usage = Usage(
        None if usd is None else float(str(usd)),
        int(str(line["input"])), int(str(line["cached"])), int(str(line["output"])), float(str(line["seconds"])),
    )  # fmt: skip
    return Call(str(line["at"]), str(line["step"]), str(line["item"]), str(line["model"]), usage)


def now_text() -> str:
    """Now, in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
