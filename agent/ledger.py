"""What was spent, call by call: one line each in a file of the repository that no revert reaches."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agent.domain.usage import Usage
from agent.durable import append_line


@dataclass(frozen=True)
class Call:
    """One model call: when (ISO 8601, UTC), for which step and item, by which model, and what it used."""

    at: str
    step: str
    item: str
    model: str
    usage: Usage


class Ledger:
    """The ledger in `folder`, shared by all work trees of a repository."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "ledger.jsonl"

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
        try:
            lines = self._path.read_bytes().split(b"\n")
        except OSError:
            return [], 0
        calls, torn = [], 0
        for line in lines:
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
