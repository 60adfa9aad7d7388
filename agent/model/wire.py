"""What passes between agentctl and its model process: one JSON object a line, in the shapes of the chat-completions protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import to_builtins

from agent.domain.chat import Message, Reply, Request, ToolCall, ToolSpec
from agent.domain.usage import Usage
from agent.model.errors import Facts, Origin

Json = dict[str, Any]


def chat_of(request: Request) -> Json:
    """The request as chat-completions `messages` and `tools`."""
    return {"messages": [_message(message) for message in request.messages], "tools": [_tool(tool) for tool in request.tools]}


def reply_from(data: Mapping[str, Any]) -> Reply:
    """The reply that `reply_to` wrote."""
    return Reply(
        text=data["text"],
        calls=tuple(ToolCall(**call) for call in data["calls"]),
        usage=Usage(**data["usage"]),
        finish=data["finish"],
    )


def reply_to(reply: Reply) -> Json:
    """The reply as JSON."""
    data: Json = to_builtins(reply)
    return data


def facts_from(data: Mapping[str, Any]) -> Facts:
    """The facts that `facts_to` wrote."""
    rest = {key: value for key, value in data.items() if key not in {"origin", "keys", "spent"}}
    return Facts(origin=Origin(data["origin"]), keys=tuple(data["keys"]), spent=Usage(**data["spent"]), **rest)


def facts_to(facts: Facts) -> Json:
    """The facts as JSON."""
    data: Json = to_builtins(facts)
    return data


def _message(message: Message) -> Json:
    text = _whole(message.text)
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": text}
    if not message.calls:
        return {"role": message.role, "content": text}
    return {"role": "assistant", "content": text or None, "tool_calls": [_call(call) for call in message.calls]}


def _call(call: ToolCall) -> Json:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _whole(call.args)}}


def _tool(spec: ToolSpec) -> Json:
    return {
        "type": "function",
        "function": {"name": spec.name, "description": spec.description, "parameters": dict(spec.parameters)},
    }


def _whole(text: str) -> str:
    """Half surrogate pairs, which a file of unknown bytes leaves in a text, would fail the request when it is encoded."""
    return text.encode("utf-8", "replace").decode("utf-8")
