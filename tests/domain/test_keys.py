"""What a key is: the gate and the redaction know the same ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.keys import KEY_ENV, KINDS, own_keys, speaks_of_a_key, well_known
from agent.domain.redact import REDACTED, redact
from agent.gate.secrets import secrets
from tests.gate.test_secrets import INNOCENT, KEYS

SPEAKING = (
    "OPENAI_API_KEY", "OPENAIAPIKEY", "TS_AUTHKEY", "GITHUB_TOKEN", "GITHUBTOKEN", "TOKEN", "API_TOKEN_2", "DB_PASS", "MYSQL_PWD", "PGPASSWORD",
    "GPG_PASSPHRASE", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "GIT_CREDENTIALS", "AZURE_PAT", "db_password", "SSH_KEY_DATA",
)  # fmt: skip
OTHERS = ("HOME", "PWD", "OLDPWD", "PATH", "TOKENIZERS_PARALLELISM", "COMPASS", "PASSAGE", "KEYBOARD", "DB_PASSWORD_FILE", "GIT_ASKPASS_TOKEN_PATH")
VALUE = "sword-fish"


@pytest.mark.parametrize("name", [*SPEAKING, *OTHERS])
def test_gate_and_redaction_agree_on_which_variables_hold_keys(name: str) -> None:
    environment = {name: VALUE}
    assert speaks_of_a_key(name) == (name in SPEAKING)
    assert bool(secrets({"a.py": [(1, f"send('{VALUE}')")]}, environment)) == (name in SPEAKING)
    assert (VALUE not in redact(f"send('{VALUE}')", environment)) == (name in SPEAKING)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=40), st.text(max_size=20), st.text(max_size=20))
def test_whatever_the_gate_calls_an_own_key_never_stands_in_a_redacted_text(value: str, before: str, after: str) -> None:
    environment = {"MY_TOKEN": value}
    if secrets({"a.py": [(1, value)]}, environment):
        assert value.strip() not in redact(f"{before}{value}{after}", environment)


@given(st.sampled_from(sorted(KINDS)).flatmap(lambda kind: st.tuples(st.just(kind), st.from_regex(KINDS[kind][1], fullmatch=True))))
def test_any_key_has_one_of_the_pieces_by_which_its_kind_is_thought_of(case: tuple[str, str]) -> None:
    kind, key = case
    assert any(name == kind and pattern.search(f"'{key}'") for name, pattern in well_known(f"x = '{key}'"))


@pytest.mark.parametrize("kind", KEYS)
def test_whatever_the_gate_refuses_is_redacted_too(kind: str) -> None:
    assert KEYS[kind][-12:] not in redact(f"it said ({KEYS[kind]})", {})


@pytest.mark.parametrize("line", INNOCENT[3:5])
def test_an_example_key_lands_but_is_not_told(line: str) -> None:
    assert secrets({"a.py": [(1, line)]}, {}) == ()
    assert redact(line, {}) == REDACTED


def test_the_variable_that_holds_the_models_key_is_secret_whatever_its_name_says() -> None:
    environment = {KEY_ENV: "LUNCH", "LUNCH": "password", "DINNER": "swordfish"}
    assert redact("password swordfish", environment) == f"{REDACTED} swordfish"
    assert secrets({"a.py": [(1, "password")]}, environment)


@pytest.mark.parametrize("value", ["postgres", "changeme", "/home/me/.ssh/id_ed25519", "~/keys/one", "./key.pem", "short"])
def test_words_that_everybody_knows_and_paths_are_no_secrets(value: str) -> None:
    assert own_keys({"DB_PASSWORD": value}) == {}


def test_a_key_may_begin_with_a_slash() -> None:
    assert own_keys({"AWS_SECRET_ACCESS_KEY": "/" + "wJalrXUtnFEMI7K/MDENGbPxRfiCYzzzzzzzzzz"})


BODY = [chr(65 + n) + "b3" * 31 + "=" for n in range(3)]
PEM = "\n".join(["-----BEGIN RSA " + "PRIVATE KEY-----", *BODY, "c2hvcnQ=", "-----END RSA " + "PRIVATE KEY-----"])


@pytest.mark.parametrize("shown", [PEM, PEM.replace("\n", "\\n"), PEM.replace("\n", "\n    "), PEM[: len(PEM) // 2], PEM.replace("\n", "\r\n")])
def test_no_byte_of_a_private_key_is_told(shown: str) -> None:
    told = redact(f"before {shown} after", {})
    assert told.startswith("before -----BEGIN")
    assert told.endswith(" after")
    assert not any(piece in told for piece in (*(line[:16] for line in BODY[: shown.count("=")]), "c2hvcnQ"))


def test_code_that_reads_keys_is_told_as_it_is() -> None:
    code = "if text.startswith('-----BEGIN PRIVATE KEY-----'):\n    return load(text, password=None)\n"
    assert redact(code, {}) == code


def test_a_key_of_several_lines_is_known_by_any_of_them() -> None:
    environment = {"DEPLOY_KEY": PEM}
    assert secrets({"a.py": [(4, f"x = '{BODY[1]}'")]}, environment)
    assert redact(f"x {BODY[1]} y", environment) == f"x {REDACTED} y"
