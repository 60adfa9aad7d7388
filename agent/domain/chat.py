"""A conversation with a model, in the shape of the chat-completions protocol but typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from agent.domain.usage import Usage

Role = Literal["system", "user", "assistant", "tool"]


class ToolCall(Struct, frozen=True):
    """A tool call as the model wrote it; `args` is its JSON text, unparsed and possibly wrong."""

    id: str
    name: str
    args: str


class Message(Struct, frozen=True):
    """One turn; `calls` only on the assistant's, `call_id` only on a tool's answer."""

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None


class ToolSpec(Struct, frozen=True):
    """A tool as the model is told of it; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class Request(Struct, frozen=True):
    """One call of the model; `max_output` in tokens, and so is `most_input`: what the prompt may come to, None where nobody has counted."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    max_output: int
    most_input: int | None = None


class Reply(Struct, frozen=True):
    """What came back; `finish` is the provider's word ("stop", "tool_calls", "length", …)."""

    text: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    finish: str
