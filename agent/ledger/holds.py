"""Money set aside for calls that are under way: what each can cost at most, until the ledger says what it did cost."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from pathlib import Path

from msgspec import convert, to_builtins

from agent.domain.caps import Amount
from agent.domain.shape import Count, Quantity, Stored, parsed
from agent.durable import read_own, write_whole
from agent.ledger.calls import Ledger


class Hold(Stored, frozen=True):
    """What the call that was sent at `at` (ISO 8601, UTC) may cost at most. `start` is the ledger's size, in bytes, when it was sent.

    A hold whose process has died stays: nobody knows what became of the request, so it counts as it stands.
    """

    name: str
    at: str
    step: str
    item: str
    model: str
    usd: Quantity
    tokens: Count
    start: Count

    @property
    def amount(self) -> Amount:
        return Amount(self.usd, self.tokens)


class Holds:
    """The holds in `folder`: a file each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "holds"
        self._read: dict[str, Hold] = {}

    def place(self, at: str, step: str, item: str, model: str, most: Amount, start: int) -> Hold:
        """Set `most` aside; on disk when this returns."""
        hold = Hold(secrets.token_hex(8), at, step, item, model, most.usd, most.tokens, start)
        write_whole(self._path(hold.name), json.dumps(to_builtins(hold)).encode())
        return hold

    def drop(self, hold: Hold) -> None:
        """What the call cost is known: in the ledger, or nothing."""
        self._path(hold.name).unlink(missing_ok=True)

    def open(self, ledger: Ledger) -> list[Hold]:
        """All that stand, by time. One that `ledger` has settled, where a kill came before its end, doesn't."""
        names = set(self._names())
        fresh = [hold for name in names - self._read.keys() if (hold := self._load(name))]
        settled = ledger.settled(min(hold.start for hold in fresh)) if fresh else set()
        known = {name: hold for name, hold in self._read.items() if name in names}
        self._read = known | {hold.name: hold for hold in fresh if hold.name not in settled}
        return sorted(self._read.values(), key=lambda hold: (hold.at, hold.name))

    def _names(self) -> Iterator[str]:
        if self.folder.is_dir():
            yield from (path.stem for path in self.folder.iterdir() if path.suffix == ".json")

    def _load(self, name: str) -> Hold | None:
        """A hold as it was written; None where it has just gone, or isn't one."""
        try:
            hold = convert(parsed(read_own(self._path(name))), Hold)
        except (FileNotFoundError, IsADirectoryError, ValueError):
            return None
        return hold if hold.name == name else None

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"
