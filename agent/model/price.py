"""What models cost and hold, from the tables that litellm ships, read without importing it (40 ms instead of seconds)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agent.domain.price import Price
from agent.model.protocol import Limits

# Rates that come without being asked for; batches, cheaper tiers and longer-lived caches have to be.
_INPUT = r"(?:input_cost_per_token|cache_(?:read|creation)_input_token_cost)(?:_above_\d+k?_tokens)?(?:_priority)?"
_OUTPUT = r"output_cost_per_(?:reasoning_)?token(?:_above_\d+k?_tokens)?(?:_priority)?"
_TABLE = "model_prices_and_context_window_backup.json"

CAREFUL = Limits(window=32_768, max_output=4_096)
"""For a model that no table knows: what nearly every model that can call tools holds."""


def price_of(name: str) -> Price | None:
    """USD for a million tokens of model `name`, or None where the table doesn't say. Of prices in tiers the first one is the plain one."""
    row = _row(name)
    tiers = [tier for tier in row.get("tiered_pricing") or () if isinstance(tier, dict)]
    plain = row if "input_cost_per_token" in row else next(iter(tiers), {})
    per_input, per_output = _number(plain, "input_cost_per_token"), _number(plain, "output_cost_per_token")
    if per_input is None or per_output is None:
        return None
    per_cached, per_written = _number(plain, "cache_read_input_token_cost"), _number(plain, "cache_creation_input_token_cost")
    return Price(
        input=_million(per_input),
        cached=_million(per_input if per_cached is None else per_cached),
        output=_million(per_output),
        written=None if per_written is None else _million(per_written),
        most_input=_dearest([row, *tiers], _INPUT),
        most_output=_dearest([row, *tiers], _OUTPUT),
    )


def is_known(name: str) -> bool:
    """Whether the table has anything of model `name`."""
    return bool(_row(name))


def _dearest(rows: list[Mapping[str, Any]], rates: str) -> float:
    return _million(max((_number(row, key) or 0.0 for row in rows for key in row if re.fullmatch(rates, key)), default=0.0))


def limits_of(name: str) -> Limits | None:
    """Sizes in tokens, or None where the table doesn't say. `window` is the largest input, which some providers count apart from the output."""
    row = _row(name)
    window, reply = _number(row, "max_input_tokens"), _number(row, "max_output_tokens") or _number(row, "max_tokens")
    if not window or not reply:
        return None
    return Limits(window=int(window), max_output=min(int(reply), int(window)))


def litellm_folder() -> Path | None:
    """Where litellm is installed, found without importing it; None where it isn't."""
    spec = find_spec("litellm")
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) if places else None


def _table() -> str:
    """The table as it is shipped; "" where the file is missing or unreadable, since a price is never worth a failure."""
    folder = litellm_folder()
    try:
        return (folder / _TABLE).read_text("utf-8") if folder else ""
    except (OSError, ValueError):
        return ""


@cache  # rows and not the table, which would hold 20 MB for as long as the process lives
def _row(name: str) -> Mapping[str, Any]:
    """The row for a litellm name: as written, or without its provider where the row is that provider's."""
    table = _table()
    for key, provider in _keys(name):
        row = _row_in(table, key)
        if row is None:
            continue
        target = row.get("alias_of")
        row = _row_in(table, target) or {} if isinstance(target, str) else row
        if provider is None or str(row.get("litellm_provider", "")).startswith(provider):
            return row
    return {}


def _row_in(table: str, key: str) -> Mapping[str, Any] | None:
    """The row of that very key, read from where it stands: to read the whole table takes as long as ten git processes."""
    start = f"{json.dumps(key)}: "
    at = table.rfind(f"{start}{{")
    try:
        row: Mapping[str, Any] | None = json.JSONDecoder().raw_decode(table, at + len(start))[0] if at >= 0 else None
    except ValueError:
        return None
    return row


def _keys(name: str) -> Iterator[tuple[str, str | None]]:
    yield name, None
    provider, slash, model = name.partition("/")
    if slash:
        yield model, provider


def _number(row: Mapping[str, Any], key: str) -> float | None:
    value = row.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _million(per_token: float) -> float:
    return round(per_token * 1_000_000, 6)
