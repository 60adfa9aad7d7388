"""What an exception out of litellm says, as facts."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from agent.model.errors import Facts, Origin

# Nothing was answered: base classes of what Python, httpx, httpcore, botocore, requests and the SDKs raise then.
_TRANSPORT = frozenset(
    {"APIConnectionError", "ConnectionError", "NetworkError", "ProtocolError", "ProxyError", "SSLError", "TransportError", "gaierror"}
)
_TIMEOUTS = frozenset({"APITimeoutError", "TimeoutException", "TimeoutError"})
_PREFIX = re.compile(r"^(?:(?:litellm\.)?\w*(?:Error|Exception|Timeout|LiteLLM)(?::| -) )+|^Error code: \d+(?: - |$)|^\[Errno -?\d+\] ")
_COME_BACK = re.compile(r"(?:try again|retry) in (?:(?P<m>\d+)m(?!s))?(?P<n>\d+(?:\.\d+)?)? ?(?P<unit>ms|s\b|sec)?", re.IGNORECASE)
_LONGEST = 1_000  # characters of a provider's words worth carrying


def facts_of(error: BaseException) -> Facts:
    """Reads the whole chain of causes, since litellm's own exception has lost the status, the body or the cause of many a failure."""
    chain = list(_chain(error))
    answered = [status for cause in chain if (status := _answered(cause)) is not None]
    if answered:
        words, code = _said(chain)
        return Facts(Origin.ANSWER, words, answered[-1], code, _retry_after(chain, words))
    if any(_is_a(cause, _TIMEOUTS) for cause in chain[1:]):
        return Facts(Origin.TIMEOUT)
    if lost := [cause for cause in chain[1:] if _is_a(cause, _TRANSPORT)]:
        return Facts(Origin.CONNECTION, _clean(str(lost[-1])))
    words, code = _said(chain)
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return Facts(Origin.LIBRARY, words, status, code)
    return Facts(Origin.INSIDE, f"{type(error).__name__}: {words}")


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
        message, code = _from_body(getattr(cause, "body", None))
        if message:
            return _clean(message), code
    for cause in chain:
        if words := _clean(str(getattr(cause, "message", "") or cause)):
            return words, ""
    return "", ""


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
    return str(message), str(inner.get("code") or inner.get("type") or "")


def _clean(words: str) -> str:
    first = words.partition("\nTraceback")[0]
    return _PREFIX.sub("", " ".join(first.split()))[:_LONGEST]


def _retry_after(chain: list[BaseException], words: str) -> float | None:
    for cause in reversed(chain):
        headers = getattr(getattr(cause, "response", None), "headers", None) or getattr(cause, "litellm_response_headers", None)
        seconds = _header_seconds(headers) if isinstance(headers, Mapping) else None
        if seconds is not None:
            return seconds
    return _worded_seconds(words)


def _header_seconds(headers: Mapping[str, str]) -> float | None:
    """`Retry-After` as seconds or as a date (RFC 9110, 10.2.3); None where it is missing or no time at all."""
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d+(?:\.\d+)?", value):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time()) if value else None
    except ValueError:
        return None


def _worded_seconds(words: str) -> float | None:
    """Of "Please try again in 1m2.5s" and its kind."""
    found = _COME_BACK.search(words)
    if not found or not (found["m"] or found["unit"]):
        return None
    number = float(found["n"] or 0)
    return 60 * float(found["m"] or 0) + (number / 1000 if found["unit"] == "ms" else number)
