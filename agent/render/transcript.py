"""A conversation as a person reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agent.domain.text import plain
from agent.render.columns import heading


def transcript_text(said: Iterable[Mapping[str, Any]]) -> str:
    """Who said what, in order."""
    return "\n\n".join(_part(line) for line in said)


def _part(line: Mapping[str, Any]) -> str:
    who = {"message": line.get("role", ""), "reply": "model", "error": "error"}.get(str(line.get("kind")), str(line.get("kind")))
    text = plain(str(line.get("text", ""))).rstrip()
    told = line.get("calls")
    calls = [
        f"→ {plain(str(call.get('name')))} {plain(str(call.get('args')))}"
        for call in (told if isinstance(told, list) else ())
        if isinstance(call, Mapping)
    ]
    usage = line.get("usage")
    tokens = [usage.get("input"), usage.get("output")] if isinstance(usage, Mapping) else [None]
    spent = " ({:,} tokens in, {:,} out)".format(*tokens) if all(type(count) is int for count in tokens) else ""
    return "\n".join(part for part in (f"{heading(str(who))}  {plain(str(line.get('time', '')))}{spent}", text, *calls) if part)
