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
    fresh = [entry for entry in entries if _key(entry) not in known]
    blobs = repo.blobs([entry.id for entry in fresh])
    parsed = {_key(entry): parse_item(as_text(data or b"", entry.path), entry.path) for entry, data in zip(fresh, blobs, strict=True)}
    items = tuple(parsed.get(_key(entry)) or _item(known[_key(entry)]) for entry in entries)
    if len(fresh) > _WORTH_KEEPING:
        keep(cache, {_key(entry): _row(item) for entry, item in zip(entries, items, strict=True)})
    return items


def _key(entry: Entry) -> str:
    return f"{entry.path.rpartition('/')[2]} {entry.id}"


def _row(item: Item) -> list[Any]:
    return [item.id, item.title, item.text, item.order, item.after, item.checks, item.allow]


def _item(row: list[Any]) -> Item:
    identity, title, text, order, after, checks, allow = row
    return Item(identity, title, text, order, tuple(after), tuple(checks), tuple(allow))
