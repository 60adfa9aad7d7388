"""Who makes the calls in the model's process: through litellm, or directly. What both have in common."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable, Mapping
from typing import Any, Protocol
from urllib.parse import urlsplit
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from agent.domain.chat import Reply, ToolCall
from agent.domain.redact import redact
from agent.model import wire
from agent.model.errors import Facts, Origin
from agent.model.spending import Counts, most_tokens, reported, usage_of

NO_KEY_NEEDED = "none"
"""What local servers get, most of which insist on a key."""


class Caller(Protocol):
    """Answers the requests of agent/model/client.py: as `wire` has it, a reply, a fault, or {"fine": True}. Raises nothing."""

    def keep_quiet(self) -> None:
        """Set what libraries read from the environment, which has just become the step's own, so that nothing but the calls goes over the network."""
        ...

    def check(self, request: Mapping[str, Any]) -> wire.Json:
        """What is sure to fail, without a call."""
        ...

    def complete(self, request: Mapping[str, Any]) -> wire.Json:
        """One request, one reply; nothing is tried again."""
        ...


class Completion(Struct, frozen=True):
    """What came back: `finish` is the server's word for how it ended, "" where it said none, `usage` whatever holds its counts as attributes."""

    text: str
    calls: tuple[ToolCall, ...]
    finish: str
    usage: Any


def told(request: Mapping[str, Any], came: Completion, seconds: float, cost: Callable[[Counts], float | None]) -> wire.Json:
    """The reply that `came` is, after `seconds`, or the fault: it is empty. `cost` says what the counted tokens cost where the request doesn't."""
    most = most_tokens(request)
    finish = came.finish or "stop"
    if (reported(came.usage, "completion_tokens", most) or 0) >= request["max_output"]:
        finish = "length"  # some servers say "stop" or "tool_calls" of a reply that was cut off
    said = came.text + "".join(call.name + call.args for call in came.calls)
    usage = usage_of(came.usage, request, said, most, seconds, cost)
    if not came.text and not came.calls and finish != "length":
        origin = Origin.FILTERED if finish == "content_filter" else Origin.EMPTY
        return fault(request, Facts(origin, spent=usage))
    return {"reply": wire.reply_to(Reply(came.text, came.calls, usage, finish))}


def tool_call(identity: str | None, name: str | None, args: str | None) -> ToolCall:
    """A call as a server sent it: some leave out ids, and send no text at all where there are no arguments."""
    return ToolCall(id=identity or f"call_{uuid4().hex}", name=name or "", args=args or "{}")


def fault(request: Mapping[str, Any], facts: Facts, keys: tuple[str, ...] = (), secret: str = "") -> wire.Json:
    """`facts` as they go out: with the names of the variables that hold the key, and without any key, nor `secret`."""
    names = (request["key_env"],) if request["key_env"] else keys
    env = {**os.environ, "USED_KEY": secret}
    words, address = redact(facts.words, env), redact(request["api_base"] or "", env)
    return {"fault": wire.facts_to(replace(facts, keys=names, words=words, address=address))}


def key_is_unset(request: Mapping[str, Any]) -> bool:
    """Whether the variable that the person named holds nothing."""
    return bool(request["key_env"]) and not os.environ.get(request["key_env"])


def is_near(address: str) -> bool:
    """This machine, a private network, or a name without a dot, as containers have."""
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local", ".internal"))
