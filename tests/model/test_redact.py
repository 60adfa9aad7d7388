from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.redact import REDACTED, redact

KEY = "sk-test-0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"url 'https://api.example.invalid/v1?key={KEY}&x=1'", "url 'https://api.example.invalid/v1?key=[redacted]&x=1'"),
        ("Authorization: Bearer abc.def-123456", "Authorization: Bearer [redacted]"),
        ("Incorrect API key provided: sk-proj-****cdef.", "Incorrect API key provided: [redacted]"),
        ('{"api_key": "a1b2c3d4e5"}', '{"api_key": "[redacted]"}'),
        ("https://me:hunter2@host/x", "https://[redacted]@host/x"),
        ("token=ghp_0123456789abcdefABCDEF", "token=[redacted]"),
    ],
)
def test_what_has_the_shape_of_a_key_goes(text: str, shown: str) -> None:
    assert redact(text, {}) == shown


@pytest.mark.parametrize(
    "text",
    [
        "sorted(names, key=len), max(rows, key=itemgetter)",
        "the bearer of this letter; a Bearer authentication scheme",
        "a token: the smallest unit; risk-taking desk-bound task-based",
        "see https://example.org/a:b@c and mail me@example.org",
        "",
    ],
)
def test_plain_text_and_code_stay(text: str) -> None:
    assert redact(text, {"API_KEY": "short", "PATH": "sorted(names"}) == text


def test_values_of_secret_variables_go_also_percent_encoded() -> None:
    env = {
        "A_API_KEY": "with space/4711",
        "GH_TOKEN": "plainwords",
        "DB_PASSWORD": "correct horse",
        "MY_SECRET_ID": "abcdefghij",
        "HOME": "/home/someone",
    }
    text = "with space/4711 with%20space%2F4711 plainwords correct horse abcdefghij /home/someone"
    assert redact(text, env) == f"{REDACTED} {REDACTED} {REDACTED} {REDACTED} {REDACTED} /home/someone"


secrets = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="[]redact"), min_size=8, max_size=40).filter(
    lambda text: len(text.strip()) >= 8
)


@given(before=st.text(), secret=secrets, other=secrets, after=st.text())
def test_no_secret_value_is_left_in_any_text(before: str, secret: str, other: str, after: str) -> None:
    env = {"ONE_API_KEY": secret, "OTHER_TOKEN": other}
    shown = redact(f"{before}{secret}{after} {quote(other, safe='')} {other}", env)
    assert secret.strip() not in shown
    assert other.strip() not in shown


@given(text=st.text() | st.from_regex(r"(key=|Bearer |sk-|https://)[a-z0-9:@]{0,20}.{0,10}"))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text, {})
    assert redact(once, {}) == once
