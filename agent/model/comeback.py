"""When a provider says to come back: headers, bodies and words, as seconds from now."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_WORDED = re.compile(r"(?:try again|retry) in (?:(?P<m>\d+)m(?!s))?(?P<n>\d+(?:\.\d+)?)? ?(?P<unit>ms|s\b|sec)?", re.IGNORECASE)
_RETRY_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')  # google.rpc.RetryInfo, as Gemini puts it into its error body
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SPAN = re.compile(r"(?=\d)(?:(?P<d>\d+)d)?(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m(?!s))?(?:(?P<s>\d+(?:\.\d+)?)s)?(?:(?P<ms>\d+(?:\.\d+)?)ms)?")
_RESET = re.compile(r"(?P<who>x-|anthropic-)?ratelimit-(?:reset(?:-(?P<what>[\w-]+))?|(?P<kind>[\w-]+)-reset)")
_EPOCH, _EPOCH_MS = 1e9, 1e12  # a larger number is no span but a moment, in seconds or milliseconds since 1970


_LONGEST = 366 * 86_400.0  # seconds; nobody waits longer, and some numbers are no time at all


def seconds_until(headers: Mapping[str, str], body: str, words: str, now: float) -> float | None:
    """Seconds to wait, a year at most, or None where nothing says so. `headers` have lower-case names, `now` is a Unix time.

    In this order: `retry-after-ms`; `Retry-After` as seconds or as a date (RFC 9110, 10.2.3); the resets of those rate limits that
    are used up, the latest of them; Gemini's `retryDelay` in `body`; "try again in 1m2.5s" in `words`.
    """
    told = _told(headers, body, words, now)
    return None if told is None else min(told, _LONGEST)


def _told(headers: Mapping[str, str], body: str, words: str, now: float) -> float | None:
    if (milliseconds := headers.get("retry-after-ms", "").strip()) and _NUMBER.fullmatch(milliseconds):
        return float(milliseconds) / 1000
    named = _moment(headers.get("retry-after", ""), now)
    if named is not None:
        return named
    resets = list(_resets(headers, now))
    if resets:
        return max(resets)
    if delay := _RETRY_DELAY.search(body):
        return float(delay[1])
    return _worded(words)


def _resets(headers: Mapping[str, str], now: float) -> Iterator[float]:
    """`x-ratelimit-reset-requests: 1m3s` counts with `x-ratelimit-remaining-requests: 0`; `anthropic-ratelimit-tokens-reset` holds a date."""
    for name, value in headers.items():
        found = _RESET.fullmatch(name)
        if not found:
            continue
        who, what = found["who"] or "", found["what"] or found["kind"]
        twins = (f"{who}ratelimit-remaining-{what}", f"{who}ratelimit-{what}-remaining") if what else (f"{who}ratelimit-remaining",)
        left = next((headers[twin].strip() for twin in twins if twin in headers), "0")
        seconds = _moment(value, now)
        if left == "0" and seconds is not None:
            yield seconds


def _moment(value: str, now: float) -> float | None:
    """Seconds until what a header says as a number, a span (`6m0s`, `120ms`), a Unix time or a date; None for anything else."""
    value = value.strip()
    if _NUMBER.fullmatch(value):
        number = float(value)
        return number if number < _EPOCH else max(0.0, (number / 1000 if number > _EPOCH_MS else number) - now)
    if value and (span := _SPAN.fullmatch(value)):
        days, hours, minutes, seconds, milliseconds = (float(part or 0) for part in span.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds + milliseconds / 1000
    when = _date(value)
    return None if when is None else max(0.0, when.timestamp() - now)


def _date(value: str) -> datetime | None:
    for parse in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            when = parse(value)
        except ValueError:
            continue
        return when if when.tzinfo else when.replace(tzinfo=UTC)
    return None


def _worded(words: str) -> float | None:
    found = _WORDED.search(words)
    if not found or not (found["m"] or found["unit"]):
        return None
    number = float(found["n"] or 0)
    return 60 * float(found["m"] or 0) + (number / 1000 if found["unit"] == "ms" else number)
