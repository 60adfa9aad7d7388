"""The bodies of the protocols that are spoken to providers, as far as faults and short replies need them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agent.model.process import DIRECT, LITELLM

Json = dict[str, Any]
_TOKENS = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


@dataclass(frozen=True)
class Dialect:
    """One protocol, and who speaks it. `said` takes a text or None and "stop", "length" or "content_filter"; `nothing` is a reply without any choice in it."""

    model: str
    path: str
    failed: Callable[[int, str, str], Json]
    said: Callable[[str | None, str], Json]
    nothing: Json
    caller: str = LITELLM


def _openai(status: int, message: str, code: str) -> Json:
    return {"error": {"message": message, "type": "error", "param": None, "code": code or str(status)}}


def _completion(text: str | None, finish: str) -> Json:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": _TOKENS}


def _anthropic(status: int, message: str, code: str) -> Json:
    return {"type": "error", "error": {"type": code or f"error_{status}", "message": message}}


def _message(text: str | None, finish: str) -> Json:
    content = [] if text is None else [{"type": "text", "text": text}]
    stop = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}[finish]
    usage = {"input_tokens": 10, "output_tokens": 5}
    return {"id": "m", "type": "message", "role": "assistant", "model": "c", "content": content, "stop_reason": stop, "usage": usage}


def _gemini(status: int, message: str, code: str) -> Json:
    return {"error": {"code": status, "message": message, "status": code or "UNKNOWN"}}


def _candidate(text: str | None, finish: str) -> Json:
    parts = [] if text is None else [{"text": text}]
    reason = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}[finish]
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason, "index": 0}], "usageMetadata": usage}


def _ollama(status: int, message: str, code: str) -> Json:
    return {"error": f"{message} ({code or status})"}


def _chat(text: str | None, finish: str) -> Json:
    message = {"role": "assistant", "content": text or ""}
    counts = {"prompt_eval_count": 10, "eval_count": 5}
    return {"model": "q", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": True, "done_reason": finish, **counts}


DIALECTS = (
    Dialect("openai/local", "/v1", _openai, _completion, _completion(None, "stop") | {"choices": []}),
    Dialect("openai/local", "/v1", _openai, _completion, _completion(None, "stop") | {"choices": []}, DIRECT),
    Dialect("azure/local", "", _openai, _completion, _completion(None, "stop") | {"choices": []}),
    Dialect("anthropic/claude-sonnet-4-5", "", _anthropic, _message, _message(None, "stop")),
    Dialect("gemini/gemini-2.5-pro", "", _gemini, _candidate, {"candidates": [], "usageMetadata": {"promptTokenCount": 10, "totalTokenCount": 10}}),
    Dialect("ollama_chat/local", "", _ollama, _chat, _chat(None, "stop")),
)
