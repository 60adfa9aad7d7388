"""What a call used and cost, from what the provider reports, which is sometimes missing and sometimes nonsense."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from agent.domain.price import Price
from agent.domain.usage import Usage
from agent.model import price, tokens

Counts = tuple[int, int, int, int]
"""Tokens of one call: input (all of it), of that from the cache, of that into the cache, and output."""


def usage_of(usage: Any, asked: Mapping[str, Any], said: str, most: int, seconds: float, cost: Callable[[Counts], float | None]) -> Usage:
    """Tokens, USD and seconds of one call.

    `usage` holds the provider's counts as attributes. `asked` is the request with its `model`, `messages`, `tools` and `price`, `said` all that came
    back, `most` the largest count that can be true; `cost` says what the counts cost where `asked` has no price. A count out of bounds is replaced by
    an estimate, and so is a zero where something was read or said. Cached tokens are part of the input and never more.
    """
    given = reported(usage, "prompt_tokens", most) or tokens.count(_text(asked))
    output = reported(usage, "completion_tokens", most) or tokens.count(said)
    details = getattr(usage, "prompt_tokens_details", None)
    cached = min(reported(details, "cached_tokens", most) or 0, given)
    written = min(_written(usage, details, most), given - cached)
    counts = (given, cached, written, output)
    usd = Price(**asked["price"]).usd(*counts) if asked["price"] else cost(counts)
    return Usage(usd=usd, input=given, cached=cached, output=output, seconds=round(seconds, 3))


def _written(usage: Any, details: Any, most: int) -> int:
    """What went into the provider's cache: Anthropic's own count, or those of servers that speak OpenAI's protocol."""
    names = ("cache_write_tokens", "cache_creation_tokens")
    return reported(usage, "cache_creation_input_tokens", most) or next((found for name in names if (found := reported(details, name, most))), 0)


def most_tokens(asked: Mapping[str, Any]) -> int:
    """No count is larger than this: the model's window or, where that is unknown or outdated, the request's bytes."""
    limits = price.limits_of(asked["model"]) or price.CAREFUL
    return max(limits.window, len(_text(asked).encode()))


def reported(holder: Any, name: str, most: int) -> int | None:
    """The count `name` of a usage or of its details, or None where it is missing, negative or beyond `most`."""
    value = getattr(holder, name, None)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= most else None


def _text(asked: Mapping[str, Any]) -> str:
    return json.dumps([asked["messages"], asked["tools"]], ensure_ascii=False)


def usd_of(litellm: Any, response: Any, model: str, counts: Counts) -> float | None:
    """By litellm's own price functions, each class of tokens once, or by its table where they fail; None where neither knows the model."""
    given, cached, written, output = counts
    known = price.price_of(model)
    response.usage = litellm.Usage(
        prompt_tokens=given,
        completion_tokens=output,
        total_tokens=given + output,
        prompt_tokens_details={"cached_tokens": cached, "cache_creation_tokens": written},
        completion_tokens_details=_reasoning(response, output),
        cache_read_input_tokens=cached,
        cache_creation_input_tokens=written,
    )
    try:
        usd = float(litellm.completion_cost(completion_response=response, model=model))
    except Exception:  # noqa: BLE001  # whatever it raises, the price is unknown and the reply is good
        return known.usd(*counts) if known else None
    return round(usd, 9) if (known and usd >= 0) or usd > 0 else None


def _reasoning(response: Any, output: int) -> dict[str, int]:
    """A few models charge the reasoning, which is part of the output, at a price of its own."""
    details = getattr(getattr(response, "usage", None), "completion_tokens_details", None)
    return {"reasoning_tokens": reported(details, "reasoning_tokens", output) or 0}
