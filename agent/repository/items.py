"""The items of the list at a commit, each parsed once: thousands that are done stay in the list.

What is kept of an item follows from its file's name and content. So it can be deleted, or be of another branch, without anybody noticing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.cache import keep, kept
from agent.domain.frontmatter import as_text
from agent.domain.todo import Item, parse_item
from agent.repository.repo import Entry, Repo

_VERSION = 1  # of the rows, and of what `parse_item` makes of a file
_WORTH_KEEPING = 30  # items that were parsed; fewer are parsed again, which takes some milliseconds


def read_items(repo: Repo, entries: Sequence[Entry]) -> tuple[Item, ...]:
    """The items in the files `entries`, in their order. Raises BadFileError for the first that can't be read."""
    cache = repo.private / "cache" / f"items-{_VERSION}.json"
    known: dict[str, list[Any]] = (kept(cache) or {}) if len(entries) > _WORTH_KEEPING else {}
    keyed = {_key(entry): entry for entry in entries}
    fresh = {key: entry for key, entry in keyed.items() if key not in known}
    blobs = repo.blobs([entry.id for entry in fresh.values()])
    parsed = {key: parse_item(as_text(data or b"", entry.path), entry.path) for (key, entry), data in zip(fresh.items(), blobs, strict=True)}
    items = {key: parsed.get(key) or _item(known[key]) for key in keyed}
    if len(fresh) > _WORTH_KEEPING:
        keep(cache, {key: _row(item) for key, item in items.items()})
    return tuple(items.values())


def _key(entry: Entry) -> str:
    return f"{entry.path.rpartition('/')[2]} {entry.id}"


def _row(item: Item) -> list[Any]:
    return [item.id, item.title, item.text, item.order, item.after, item.checks, item.allow]


def _item(row: list[Any]) -> Item:
    identity, title, text, order, after, checks, allow = row
    return Item(identity, title, text, order, tuple(after), tuple(checks), tuple(allow))
