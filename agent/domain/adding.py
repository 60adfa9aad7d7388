"""What happens to items on their way into the list: free ids, places in the order, and what their `after` means."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from agent.domain.names import slug, slug_with_tail
from agent.domain.todo import Item, NewItem, tidy_text, tidy_title, title_key

_STEP = 10


def made_of(wanted: Sequence[NewItem], items: Sequence[Item], taken: Collection[str]) -> list[Item]:
    """`wanted`, whose titles `items` don't have, as items of the list that `items` are; ids in `taken` are not given again.

    An `after` may name an item of `wanted` by its title or its slug, or one of `items` by id or title; what names nothing
    stays as it is.
    """
    ids = _free_ids(wanted, taken)
    known = {title_key(item.title): item.id for item in items} | {item.id: item.id for item in items}
    fresh = {slug(one.title): identity for one, identity in zip(wanted, ids, strict=True)}
    fresh |= {title_key(one.title): identity for one, identity in zip(wanted, ids, strict=True)}
    made = []
    for one, identity in zip(wanted, ids, strict=True):
        after = tuple(dict.fromkeys(_meant(word, identity, fresh, known) for word in one.after))
        checks = tuple(check for check in map(tidy_text, one.checks) if check)
        made.append(Item(identity, tidy_title(one.title), tidy_text(one.text), one.order, after, checks, one.allow))
    return made


def _free_ids(wanted: Sequence[NewItem], taken: Collection[str]) -> list[str]:
    used = set(taken)
    ids = []
    for one in wanted:
        title = tidy_title(one.title)
        identity, seed = slug(title), title
        while identity in used:
            identity = slug_with_tail(title, seed)
            seed += "'"
        used.add(identity)
        ids.append(identity)
    return ids


def _meant(word: str, own: str, fresh: Mapping[str, str], known: Mapping[str, str]) -> str:
    """The id that `word` names; an item's own slug means itself only where nothing else is called so."""
    key = title_key(word)
    found = [names[name] for names in (fresh, known) for name in (word, key) if name in names]
    return next((identity for identity in found if identity != own), found[0] if found else word)


def in_sequence(wanted: Sequence[NewItem], orders: Iterable[float | None]) -> list[NewItem]:
    """`wanted` with orders 10, 20, … behind all `orders`, so that items which arrive in one commit keep their sequence.

    An order that was given stays; one item alone needs none.
    """
    if len(wanted) <= 1:
        return list(wanted)
    given = [order for order in (*orders, *(one.order for one in wanted)) if order is not None]
    place = math.floor(max(given, default=0) / _STEP) * _STEP
    numbered = []
    for one in wanted:
        place += _STEP
        numbered.append(one if one.order is not None else replace(one, order=float(place)))
    return numbered
