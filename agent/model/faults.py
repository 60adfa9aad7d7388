"""What an exception out of litellm says, and what an answer that is an error does, as facts."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from agent.model.comeback import seconds_until
from agent.model.errors import Facts, Origin

# Nothing was answered: base classes of what Python, httpx, httpcore, botocore, requests and the SDKs raise then.
_TRANSPORT = frozenset(
    {"APIConnectionError", "ConnectionError", "NetworkError", "ProtocolError", "ProxyError", "SSLError", "TransportError", "gaierror"}
)
# Nothing was sent yet.
_BEFORE = frozenset({"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "NewConnectionError", "PoolTimeout", "ProxyError", "gaierror"})
_TIMEOUTS = frozenset({"APITimeoutError", "TimeoutException", "TimeoutError"})
_ANSWERS = frozenset({"APIError"})  # what a provider said, where the library has lost with which status: an error in an answer of 200, say
_BAD_GATEWAY = 502  # as litellm takes such answers otherwise
_PREFIX = re.compile(
    r"^(?:(?:litellm\.)?\w*(?:Error|Exception|Timeout|LiteLLM)(?::| -|(?= \w*Error -))(?: |$))+|^Error code: \d+(?: - |$)|^\[Errno -?\d+\] "
)
_SUFFIX = re.compile(r"(?:\.? ?Handle with `litellm\.\w+`\.?|, Received response - .*)$")
_LONGEST = 1_000  # characters of a provider's words worth carrying


def facts_of(error: BaseException) -> Facts:
    """Reads the whole chain of causes, since litellm's own exception has lost the status, the body or the cause of many a failure."""
    chain = list(_chain(error))
    answered = [status for cause in chain if (status := _answered(cause)) is not None]
    if answered:
        words, code = _said(chain)
        return Facts(Origin.ANSWER, words, answered[-1], code, _retry_after(chain, words))
    sent = not any(_is_a(cause, _BEFORE) for cause in chain)
    if any(_is_a(cause, _TIMEOUTS) for cause in chain[1:]):
        return Facts(Origin.TIMEOUT, sent=sent)
    if lost := [cause for cause in chain[1:] if _is_a(cause, _TRANSPORT)]:
        return Facts(Origin.CONNECTION, clean(str(lost[-1])), sent=sent)
    words, code = _said(chain)
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return Facts(Origin.LIBRARY, words, status, code)
    if _is_a(error, _ANSWERS):
        return Facts(Origin.LIBRARY, words, _BAD_GATEWAY, code)
    return Facts(Origin.INSIDE, f"{type(error).__name__}: {words}")


def answered(status: int, headers: Mapping[str, str], text: str) -> Facts:
    """What a response says that is an error, read from itself. `headers` by their names in lower case."""
    message, code = _from_body(_parsed(text))
    words = clean(message or text)
    return Facts(Origin.ANSWER, words, status, code, seconds_until(headers, text, words, time.time()))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _is_a(error: BaseException, names: frozenset[str]) -> bool:
    return any(base.__name__ in names for base in type(error).__mro__)


def _answered(error: BaseException) -> int | None:
    """The status of a response that came over the wire; litellm makes others up, which no library's own exception carries."""
    if type(error).__module__.partition(".")[0] == "litellm":
        return None
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) else None


def _said(chain: list[BaseException]) -> tuple[str, str]:
    """The provider's message and code: out of the innermost body that has them, else litellm's text without its prefixes."""
    for cause in reversed(chain):
        for body in (getattr(cause, "body", None), _parsed(_text(cause))):
            message, code = _from_body(body)
            if message:
                return clean(message), code
    for cause in chain:
        if words := clean(str(getattr(cause, "message", "") or cause)):
            return words, ""
    return "", ""


def _text(error: BaseException) -> str:
    """The response's body, if it was read."""
    try:
        return str(getattr(getattr(error, "response", None), "text", "") or "")
    except Exception:  # noqa: BLE001  # httpx raises of its own where a response was never read
        return ""


def _parsed(text: str) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found[0] if isinstance(found, list) and found else found  # Gemini puts its error into an array at times


def _from_body(body: Any) -> tuple[str, str]:
    """`{"error": {"message", "code"}}`, `{"message"}`, `{"error": "…"}` and `{"detail": "…"}` are all in use."""
    if not isinstance(body, Mapping):
        return "", ""
    inner = body.get("error", body)
    if isinstance(inner, str):
        return inner, ""
    if not isinstance(inner, Mapping):
        return "", ""
    message = inner.get("message") or inner.get("detail") or ""
    return str(message), " ".join(str(inner[name]) for name in ("code", "type", "status") if inner.get(name))


def clean(words: str) -> str:
    """A provider's or a library's words in one line, without the names of exceptions around them, and cut."""
    first = words.partition("\nTraceback")[0]
    return _SUFFIX.sub("", _PREFIX.sub("", " ".join(first.split()))).strip()[:_LONGEST]


def _retry_after(chain: list[BaseException], words: str) -> float | None:
    headers: dict[str, str] = {}
    for cause in chain:  # the innermost has the response itself
        found = getattr(getattr(cause, "response", None), "headers", None) or getattr(cause, "litellm_response_headers", None)
        if isinstance(found, Mapping):
            headers |= {str(name).lower(): str(value) for name, value in found.items()}
    return seconds_until(headers, _text(chain[-1]), words, time.time())
