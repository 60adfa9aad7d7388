from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from binascii import hexlify
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.allow import is_known
from agent.domain.change import AddedLines
from agent.domain.redact import redact
from agent.gate.secrets import fingerprint
from agent.gate.secrets import secrets as objections

A, H, N = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3kL5mN7pQ9rS1tU3vW5x", "0123456789abcdef" * 4, "1234567890"
# Put together here, so that no scanner takes this file for a leak.
KEYS = {
    "AWS": "AK" + "IAQ3EGHJ5KLMNP7RST",
    "GitHub": "gh" + "p_" + A[:36],
    "GitHub, fine": "github" + "_pat_" + A[:22] + "_" + A[:59],
    "GitLab": "gl" + "pat-" + A[:20],
    "Anthropic": "sk-" + "ant-api03-" + A[:60],
    "OpenRouter": "sk-" + "or-v1-" + H,
    "OpenAI": "sk-" + "proj-" + A[:60],
    "OpenAI, old": "sk-" + A[:20] + "T3Blbk" + "FJ" + A[20:40],
    "Groq": "gs" + "k_" + A[:52],
    "Google": "AI" + "za" + A[:35],
    "Google OAuth": "GOC" + "SPX-" + A[:28],
    "Hugging Face": "h" + "f_" + "abcdefghijklmnopqrstuvwxyzABCDEFGH",
    "Slack": "xo" + "xb-" + N + "-" + N + "-" + A[:24],
    "Slack webhook": "https://hooks.slack" + ".com/services/T0ABCDEFG/B0ABCDEFG/" + A[:24],
    "Stripe": "sk" + "_live_" + A[:24],
    "SendGrid": "S" + "G." + A[:22] + "." + A[:43],
    "Twilio": "S" + "K" + H[:32],
    "npm": "np" + "m_" + A[:36],
    "PyPI": "py" + "pi-AgE" + A[:60],
    "DigitalOcean": "do" + "p_v1_" + H,
    "Databricks": "da" + "pi" + H[:32],
    "Shopify": "shp" + "at_" + H[:32],
    "Telegram": N + ":AA" + A[:33],
    "Vault": "hv" + "s." + A[:24],
    "Azure": "Account" + "Key=" + (A + A)[:86] + "==",
    "Discord": "M" + A[:23] + "." + A[:6] + "." + A[:27],
    "Mailchimp": H[:32] + "-us" + "12",
    "Square": "sq0" + "atp-" + A[:22],
    "xAI": "xa" + "i-" + (A + A)[:80],
    "Docker": "dck" + "r_pat_" + A[:27],
    "Grafana": "gl" + "sa_" + A[:32] + "_" + H[:8],
    "JWT": "ey" + "J" + A[:30] + ".eyJ" + A[:40] + "." + A[:43],
    "age": "AGE-SECRET" + "-KEY-1" + A[:58].upper(),
}
INNOCENT = (
    "token = os.environ['GITHUB_TOKEN']",
    "sha256-" + H,
    "integrity: sha512-" + A + "==",
    "AK" + "IAIOSFODNN7EXAMPLE",
    "gh" + "p_" + "x" * 36,
    "password = getpass()",
    "data:image/png;base64," + A * 4,
    "commit " + H[:40],
    "if text.startswith('-----BEGIN PRIVATE KEY-----'):",
    "https://example.com/" + A,
    "sk-learn, ask_live_question, desk-ant-hill",
)


def secrets(added: AddedLines, environment: dict[str, str]) -> tuple[str, ...]:
    return tuple(one.text for one in objections(added, environment))


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("line", ["{}", "key = '{}'", '{{"key": "{}"}}', "KEY={} # mine", "curl -H 'Authorization: Bearer {}'"])
def test_a_well_known_key_is_found_by_file_and_line_and_never_shown(kind: str, line: str) -> None:
    (finding,) = secrets({"src/app.py": [(11, "import os"), (12, line.format(KEYS[kind]))]}, {})
    assert finding.startswith("src/app.py:12 holds what looks like a")
    assert KEYS[kind] not in finding
    assert KEYS[kind][-12:] not in finding


@pytest.mark.parametrize("line", INNOCENT)
def test_what_only_looks_like_a_key_is_let_through(line: str) -> None:
    assert secrets({"a.py": [(1, line)]}, {}) == ()


def test_a_private_key_is_found_by_its_bytes_after_the_header() -> None:
    header = "-----BEGIN " + "RSA PRIVATE KEY-----"
    assert "id_rsa:1 holds what looks like a private key" in secrets({"id_rsa": [(1, header), (2, A[:64])]}, {})[0]
    assert secrets({"one_line.py": [(1, f'KEY = "{header}\\n{A}\\n"')]}, {})
    assert secrets({"pem.py": [(1, header), (2, "is what a key begins with")]}, {}) == ()


def test_the_value_of_an_own_key_is_found_whatever_it_looks_like() -> None:
    environment = {
        "ACME_API_KEY": "correct horse battery",
        "DB_PASSWORD": "hunter2",
        "HOME": "/home/someone/far",
        "GIT_ASKPASS_TOKEN_FILE": "/run/token/file",
    }
    (finding,) = secrets({"a.py": [(7, "send('correct horse battery')"), (8, "hunter2 /home/someone/far /run/token/file")]}, environment)
    assert finding.startswith("a.py:7 holds what looks like the value of $ACME_API_KEY")
    assert "horse" not in finding


@given(
    value=st.binary(min_size=9, max_size=60),
    before=st.binary(max_size=5),
    after=st.binary(max_size=5),
    encode=st.sampled_from([b64encode, urlsafe_b64encode, hexlify]),
)
def test_the_value_of_an_own_key_is_found_in_base64_and_hexadecimal_of_any_text_around_it(
    value: bytes, before: bytes, after: bytes, encode: Callable[[bytes], bytes]
) -> None:
    key = value.hex()[:40]  # as a variable may hold
    line = encode(before + key.encode() + after).decode()
    (finding,) = secrets({"a.py": [(1, f"x = '{line}'")]}, {"ACME_API_KEY": key})
    assert "$ACME_API_KEY" in finding
    assert line not in redact(f"it said {line}", {"ACME_API_KEY": key})


RANDOM = "q8Zr2Vn5Kx9Lw4Tj7Hc3Bf6Md"  # no key of anybody


@pytest.mark.parametrize(
    "line",
    [
        f'SECRET_KEY = "{RANDOM}"',
        f"password: '{RANDOM}'",
        f'{{"api_token": "{RANDOM}"}}',
        "url = 'postgres://shop:" + RANDOM[:12] + "@db.shop.io/main'",
        "https://bot:" + RANDOM + "@git.shop.io/x.git",
    ],
)
def test_what_is_assigned_or_logged_in_with_is_found_and_redacted(line: str) -> None:
    (found,) = secrets({"a.py": [(3, line)]}, {})
    assert found.startswith("a.py:3 holds what looks like a")
    assert RANDOM[:12] not in found
    assert RANDOM[:12] not in redact(line, {})


@pytest.mark.parametrize(
    "line",
    [
        "password = 'test'",
        'token = "test-token-0123456789abcdef"',
        'key = "user.profile.settings.v2.name"',
        "postgres://postgres:postgres@localhost/test",
        "postgres://app:hunter22@db/test",
        "https://user:password@example.com/",
        "https://${USER}:${TOKEN}@git.shop.io/x.git",
        'sort_key = "created_at_desc_then_by_id_1_and_2"',
        'cache_key = f"{name}-{version}"',
        'secret = "correct horse battery staple 1 2 3"',
    ],
)
def test_what_is_invented_or_put_together_of_words_is_let_through(line: str) -> None:
    assert secrets({"a.py": [(1, line)]}, {}) == ()


def test_a_person_may_allow_what_is_no_secret_by_its_fingerprint_and_never_an_own_key() -> None:
    (found,) = objections({"a.py": [(1, f'key = "{RANDOM}"')]}, {})
    assert found.word == f"no-secret-{fingerprint(RANDOM)}"
    assert is_known(found.word)
    assert f"`allow: [{found.word}]`" in found.told
    (own,) = objections({"a.py": [(1, f'key = "{RANDOM}"')]}, {"MY_KEY": RANDOM})
    assert (own.word, "allow" in own.told) == ("", False)
    assert not is_known("no-secret-FINGERPRINT")
    assert not is_known("no-secret-")


def test_a_secret_between_nul_bytes_is_found() -> None:
    text = f'key = "{RANDOM}"'.encode("utf-16-le").decode()
    assert secrets({"a.txt": [(1, text)]}, {})


OWN = "hunter2-and-a-half-" + "a" * 4 + "-9d8f7g"
BROKEN = {
    "by concatenation": 'key = "{0}" + "{1}"',
    "by a newline": "key: >-\n  {0}\n  {1}",
    "by a backslash": 'export KEY="{0}\\\n{1}"',
    "by strings side by side": 'key = (\n    "{0}"\n    "{1}"\n)',
    "by a function": "key = join('{0}', '{1}')",
    "by three": "key = '{0}' + \\\n  '' + '{1}'",
}


@pytest.mark.parametrize("way", BROKEN)
def test_the_value_of_a_variable_is_found_in_pieces_where_it_begins(way: str) -> None:
    text = "first\n" + BROKEN[way].format(OWN[:11], OWN[11:])
    at = next(number for number, line in enumerate(text.split("\n"), 1) if OWN[:11] in line)
    found = [one.text for one in objections({"app.py": list(enumerate(text.split("\n"), 1))}, {"ACME_TOKEN": OWN})]
    assert len(found) == 1
    assert found[0].startswith(f"app.py:{at} holds what looks like the value of $ACME_TOKEN, in pieces")
    assert OWN[:11] not in found[0]


@pytest.mark.parametrize("way", ["by concatenation", "by a backslash", "by strings side by side", "by three"])
@pytest.mark.parametrize("kind", ["Anthropic", "GitHub", "AWS"])
def test_a_well_known_key_is_found_in_pieces_and_may_be_allowed(way: str, kind: str) -> None:
    text = BROKEN[way].format(KEYS[kind][:6], KEYS[kind][6:])
    (found,) = objections({"app.py": list(enumerate(text.split("\n"), 5))}, {})
    assert "in pieces" in found.text
    assert found.word == f"no-secret-{fingerprint(KEYS[kind])}"


@pytest.mark.parametrize(
    "text", [f'["{OWN[:11]}", 1, "{OWN[12:]}"]', f'"{OWN[:11]}" + rest', f"{OWN[:11]}\nother\n{OWN[11:]}", 'name = "sk-" + "ant"\nother = "x"']
)
def test_what_only_has_a_piece_of_a_key_is_let_alone(text: str) -> None:
    assert objections({"app.py": list(enumerate(text.split("\n"), 1))}, {"ACME_TOKEN": OWN}) == ()


def test_pieces_in_lines_that_do_not_follow_one_another_are_none_of_a_whole() -> None:
    assert objections({"app.py": [(1, f'"{OWN[:11]}"'), (9, f'"{OWN[11:]}"')]}, {"ACME_TOKEN": OWN}) == ()


def test_a_value_that_stands_whole_in_utf_16_is_told_once() -> None:
    wide = OWN.encode("utf-16-le").decode()
    assert len(objections({"x.txt": [(1, wide)]}, {"ACME_TOKEN": OWN})) == 1
