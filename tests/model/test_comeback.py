"""When a provider says to come back."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model.comeback import seconds_until

NOW = 1_800_000_000.0  # 2027-01-15T08:00:00Z

TOLD = [
    ({"retry-after": "7"}, 7.0),
    ({"retry-after": "0.25"}, 0.25),
    ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
    ({"retry-after": formatdate(NOW + 90, usegmt=True)}, 90.0),
    ({"retry-after": formatdate(NOW - 90, usegmt=True)}, 0.0),
    ({"retry-after": "soon"}, None),
    ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m3s"}, 63.0),
    ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "120ms"}, 0.12),
    ({"x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": "6m0s"}, None),
    (
        {
            "anthropic-ratelimit-input-tokens-remaining": "0",
            "anthropic-ratelimit-input-tokens-reset": "2027-01-15T08:00:42Z",
            "anthropic-ratelimit-requests-remaining": "49",
            "anthropic-ratelimit-requests-reset": "2027-01-15T09:00:00Z",
        },
        42.0,
    ),
    ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW + 30) * 1000)}, 30.0),
    ({"x-ratelimit-reset": str(int(NOW + 30))}, 30.0),
    ({"ratelimit-remaining": "0", "ratelimit-reset": "12"}, 12.0),
    ({}, None),
]


@pytest.mark.parametrize(("headers", "seconds"), TOLD)
def test_headers_are_seconds_from_now(headers: dict[str, str], seconds: float | None) -> None:
    assert seconds_until(headers, "", "", NOW) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("words", "seconds"),
    [("Please try again in 1m2.5s.", 62.5), ("Please retry in 37s", 37.0), ("try again in 20ms", 0.02), ("try again in a while", None)],
)
def test_words_say_it_where_no_header_does(words: str, seconds: float | None) -> None:
    assert seconds_until({}, "", words, NOW) == seconds
    assert seconds_until({"retry-after": "3"}, "", words, NOW) == 3.0


def test_the_delay_in_the_body_of_gemini_is_read() -> None:
    body = '{"error": {"details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s"}]}}'
    assert seconds_until({}, body, "You exceeded your current quota", NOW) == 37.0


@given(
    st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", "x-ratelimit-reset", "x-ratelimit-reset-tokens"]), st.text(max_size=12)),
    st.text(),
)
def test_no_header_fails_and_no_wait_is_negative(headers: dict[str, str], text: str) -> None:
    seconds = seconds_until(headers, text, text, NOW)
    assert seconds is None or seconds >= 0
