"""Reads a recorded model's file, strictly: a typo that was passed over would change what a test tests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import NoReturn

import yaml
from msgspec import Struct

from agent.domain.chat import Reply, ToolCall
from agent.domain.frontmatter import compose
from agent.domain.price import Price
from agent.domain.text import one_line
from agent.domain.usage import NOTHING, Usage
from agent.model.errors import Kind, ModelError, Reason
from agent.model.protocol import Limits

LIMITS = Limits(window=200_000, max_output=8_192)
"""What a recording holds that doesn't say."""

_SHOWN = 300  # columns of a message

ANY = "*"
"""The entry for items that have none of their own."""


class Failure(Struct, frozen=True):
    """A recorded error instead of a reply."""

    kind: Kind
    message: str


Entry = Reply | Failure
Attempts = tuple[tuple[Entry, ...], ...]


class Recording(Struct, frozen=True):
    """A whole file. `items` by id or "*"; each has its attempts in order, each attempt its entries in order."""

    items: Mapping[str, Attempts]
    plan: Attempts
    limits: Limits
    price: Price | None


def read_recording(path: Path, shown: str, price: Price | None = None) -> Recording:
    """The recording at `path`, called `shown` in messages, at a `price` in place of its own. Raises ModelError with file and line."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise unreadable(f"the recording {shown} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    return _Reader(shown, price).recording(text)


def unreadable(message: str) -> ModelError:
    """The error for whatever is wrong with a recording."""
    return ModelError(
        one_line(message, _SHOWN), "mend the file, or take another model: agentctl step --model NAME", kind=Kind.STOP, reason=Reason.RECORDING
    )


class _Reader:
    """Walks YAML's nodes rather than its values, since only they know their lines."""

    def __init__(self, shown: str, price: Price | None) -> None:
        self._shown = shown
        self._price = price

    def recording(self, text: str) -> Recording:
        try:
            root = compose(text)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            raise unreadable(f"{self._shown}:{line}: no YAML: {error.problem or error.context}") from error
        except yaml.YAMLError as error:  # a character that YAML forbids
            raise unreadable(f"{self._shown}: no YAML: {error}") from error
        if root is None:
            raise unreadable(f"{self._shown}:1: empty; `items:` or `plan:` is needed")
        parts = self._mapping(root, {"items", "plan", "limits", "price"})
        own = self._pricing(parts["price"]) if "price" in parts else None
        self._price = self._price or own
        return Recording(
            items={key: self._attempts(node) for key, node in self._pairs(parts["items"])} if "items" in parts else {},
            plan=self._attempts(parts["plan"]) if "plan" in parts else (),
            limits=self._sizes(parts["limits"]) if "limits" in parts else LIMITS,
            price=self._price,
        )

    def _attempts(self, node: yaml.Node) -> Attempts:
        attempts = tuple(self._attempt(attempt) for attempt in self._list(node))
        return attempts or self._fail(node, "no attempt is recorded; `- replies: […]` is needed")

    def _attempt(self, node: yaml.Node) -> tuple[Entry, ...]:
        parts = self._mapping(node, {"replies"}, required={"replies"})
        return tuple(self._entry(entry, number) for number, entry in enumerate(self._list(parts["replies"]), start=1))

    def _entry(self, node: yaml.Node, number: int) -> Entry:
        parts = self._mapping(node, {"text", "calls", "usage", "finish", "error"})
        if "error" in parts:
            return self._failure(node, parts)
        calls = tuple(self._call(call, f"call_{number}_{n}") for n, call in enumerate(self._list(parts["calls"]), 1)) if "calls" in parts else ()
        text = self._text(parts["text"]) if "text" in parts else ""
        if not text and not calls:
            self._fail(node, "a reply needs `text`, `calls` or `error`")
        return Reply(
            text=text,
            calls=calls,
            usage=self._usage(parts["usage"]) if "usage" in parts else NOTHING,
            finish=self._text(parts["finish"]) if "finish" in parts else "tool_calls" if calls else "stop",
        )

    def _failure(self, node: yaml.Node, parts: Mapping[str, yaml.Node]) -> Failure:
        if len(parts) > 1:
            self._fail(node, "`error` stands alone: nothing comes with it")
        error = self._mapping(parts["error"], {"kind", "message"}, required={"kind", "message"})
        kind = self._text(error["kind"])
        if kind not in list(Kind):
            self._fail(error["kind"], f"`kind` is one of {', '.join(Kind)}")
        return Failure(Kind(kind), self._text(error["message"]))

    def _call(self, node: yaml.Node, call_id: str) -> ToolCall:
        parts = self._mapping(node, {"tool", "args"}, required={"tool"})
        return ToolCall(id=call_id, name=self._text(parts["tool"]), args=self._args(parts["args"]) if "args" in parts else "{}")

    def _args(self, node: yaml.Node) -> str:
        """As JSON; a text is taken as it stands, so that a broken one can be recorded."""
        if isinstance(node, yaml.ScalarNode) and node.tag.endswith(":str"):
            return str(node.value)
        if not isinstance(node, yaml.MappingNode):
            self._fail(node, "`args` is a mapping, or the text of one")
        self._no_doubles(node)
        try:
            return json.dumps(yaml.SafeLoader("").construct_document(node), ensure_ascii=False)
        except (TypeError, ValueError, yaml.YAMLError) as error:
            self._fail(node, f"`args` holds what JSON cannot ({error}); quote it")

    def _no_doubles(self, node: yaml.Node) -> None:
        if isinstance(node, yaml.MappingNode):
            for _, value in self._pairs(node):
                self._no_doubles(value)
        if isinstance(node, yaml.SequenceNode):
            for value in node.value:
                self._no_doubles(value)

    def _usage(self, node: yaml.Node) -> Usage:
        parts = self._mapping(node, {"input", "cached", "output", "usd"})
        given, cached, output = (self._count(parts[key]) if key in parts else 0 for key in ("input", "cached", "output"))
        if cached > given:
            self._fail(node, "`cached` is part of `input` and cannot be more")
        usd = self._usd(parts["usd"]) if "usd" in parts else self._charge(given, cached, output)
        return Usage(usd=usd, input=given, cached=cached, output=output)

    def _usd(self, node: yaml.Node) -> float | None:
        return None if node.tag.endswith(":null") else self._amount(node)

    def _charge(self, given: int, cached: int, output: int) -> float:
        if self._price is None:
            return 0.0
        return self._price.usd(given, cached, 0, output)

    def _sizes(self, node: yaml.Node) -> Limits:
        parts = self._mapping(node, {"window", "max_output"}, required={"window", "max_output"})
        return Limits(window=self._count(parts["window"]), max_output=self._count(parts["max_output"]))

    def _pricing(self, node: yaml.Node) -> Price:
        keys = {"input", "cached", "output"}
        parts = self._mapping(node, keys, required=keys)
        return Price(**{key: self._amount(parts[key]) for key in keys})

    def _mapping(self, node: yaml.Node, known: AbstractSet[str], required: AbstractSet[str] = frozenset()) -> dict[str, yaml.Node]:
        found = dict(self._pairs(node, known))
        if lacking := sorted(required - found.keys()):
            self._fail(node, f"`{lacking[0]}` is missing")
        return found

    def _pairs(self, node: yaml.Node, known: AbstractSet[str] | None = None) -> Iterator[tuple[str, yaml.Node]]:
        if not isinstance(node, yaml.MappingNode):
            self._fail(node, "a mapping is needed here")
        seen: set[str] = set()
        for key_node, value in node.value:
            key = self._text(key_node)
            if known is not None and key not in known:
                self._fail(key_node, f"unknown key `{key}`; known here: {', '.join(sorted(known))}")
            if key in seen:
                self._fail(key_node, f"`{key}` stands here twice")
            seen.add(key)
            yield key, value

    def _list(self, node: yaml.Node) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode):
            self._fail(node, "a list is needed here")
        return list(node.value)

    def _text(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode) or node.tag.endswith(":null"):
            self._fail(node, "a text is needed here")
        return str(node.value)

    def _count(self, node: yaml.Node) -> int:
        value = self._amount(node)
        return int(value) if value == int(value) else self._fail(node, "a whole number is needed here")

    def _amount(self, node: yaml.Node) -> float:
        try:
            value = float(self._text(node))
        except ValueError:
            self._fail(node, "a number is needed here")
        return value if 0 <= value < float("inf") else self._fail(node, "a number of 0 or more is needed here")

    def _fail(self, node: yaml.Node, message: str) -> NoReturn:
        raise unreadable(f"{self._shown}:{node.start_mark.line + 1}: {message}")
