"""Counting, in a process of its own where the state of an import or of the machine is the question."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from base64 import b64encode
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model import tokens
from agent.model.vocabulary import Vocabulary, in_order
from tests.model.conftest import ROOT, clean_env

# Any attempt to look up or reach a host ends the process loudly.
WATCHED = """
import os, sys
def watch(event, args):
    if event in ("socket.getaddrinfo", "socket.connect", "socket.gethostbyname"):
        os.write(2, f"reached for the network: {event} {args}".encode())
        os._exit(9)
sys.addaudithook(watch)
from agent.model.tokens import count
"""


def run(code: str, home: Path, *before: str, path: str = "", **env: str) -> str:
    full = clean_env(home, **env)
    full["PYTHONPATH"] = os.pathsep.join(filter(None, [path, str(ROOT), full["PYTHONPATH"]]))
    done = subprocess.run([*before, sys.executable, "-c", WATCHED + code], env=full, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_the_first_count_needs_no_network_whatever_the_cache_variable_says(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    code = "print(count('hello <|endoftext|> wörld'), os.environ['TIKTOKEN_CACHE_DIR'], 'litellm' in sys.modules)"
    assert run(code, tmp_path, TIKTOKEN_CACHE_DIR=str(empty)) == f"10 {empty} False"
    assert list(empty.iterdir()) == []


def test_it_counts_in_a_network_namespace_without_interfaces(tmp_path: Path) -> None:
    alone = ("unshare", "-rn")
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine allows no user namespaces")
    assert run("print(count('hello <|endoftext|> wörld'), 'TIKTOKEN_CACHE_DIR' in os.environ)", tmp_path, *alone) == "10 False"


def test_a_corrupt_vocabulary_is_neither_used_nor_deleted_nor_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "lib" / "litellm" / "litellm_core_utils" / "tokenizers"
    folder.mkdir(parents=True)
    (tmp_path / "lib" / "litellm" / "__init__.py").touch()
    junk = folder / "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
    junk.write_text("junk\n")
    assert run("print(count('hello world!'))", tmp_path, path=str(tmp_path / "lib")) == "3"
    assert junk.read_text() == "junk\n"


def test_a_missing_vocabulary_means_an_estimate(tmp_path: Path) -> None:
    (tmp_path / "lib" / "litellm").mkdir(parents=True)
    (tmp_path / "lib" / "litellm" / "__init__.py").touch()
    assert run("print(count('x' * 41))", tmp_path, path=str(tmp_path / "lib")) == "11"


def test_a_panic_of_the_binding_means_an_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        """As pyo3 raises it: no Exception."""

    def panics(text: str) -> list[int]:
        raise PanicException(text)

    monkeypatch.setattr(tokens, "_encoder", lambda: panics)
    assert tokens.count("ü" * 40) == 20


@pytest.mark.parametrize("text", ["^" * 1_000_000, "a" * 3_000_000, "a" * 200_000, "^" * 200_000, " " * 200_000, "\n" * 200_000])
def test_a_million_equal_characters_take_no_time(text: str) -> None:
    tokens.count("the vocabulary is loaded")
    began = time.process_time()
    assert tokens.count(text) > 0
    assert time.process_time() - began < 1.0


_WORDS = st.sampled_from(
    [
        "'s",
        "'LL",
        "don't",
        "  ",
        "\r\n",
        "\n\n",
        "\t",
        "123",
        "12345",
        " if",
        "x_1",
        "...",
        "=" * 150,
        "Zz" * 40,
        "\x1c",
        "\x0b",
        "—",
        "…",
        " “",
        "→",
        "a",
    ]
)


@given(st.lists(st.one_of(_WORDS, st.text(max_size=5), st.text("aS'tL 0\n\r\t.-", max_size=9))).map("".join))
def test_looking_words_up_gives_tiktokens_own_count(text: str) -> None:
    vocabulary, encode = tokens._vocabulary(), tokens._encoder()
    assert vocabulary
    assert encode
    assert vocabulary.count(text) in (None, len(encode(text)))


def test_a_letter_of_a_session_needs_no_encoder(tmp_path: Path) -> None:
    code = "import pathlib; print(count(pathlib.Path('templates/system.md').read_text()) > 300, 'tiktoken' in sys.modules)"
    assert run(f"os.chdir({str(ROOT)!r});{code}", tmp_path) == "True False"


def test_code_is_counted_and_not_estimated() -> None:
    assert tokens.count("def add(a, b):\n    return a + b\n") == 12
    assert tokens.count("") == 0


@given(st.text(st.characters()))
def test_no_text_fails_and_no_count_exceeds_the_bytes(text: str) -> None:
    assert 0 <= tokens.count(text) <= max(1, len(text.encode("utf-8", "surrogatepass")))


def test_a_vocabulary_put_in_order_is_kept_for_the_next_process_and_used_only_whole(tmp_path: Path) -> None:
    said = "print(count('hello world!'))"
    assert run(said, tmp_path) == "3"
    kept = tmp_path / ".local/state/agentctl/vocabulary"
    whole = kept.read_bytes()
    for damaged in (whole[:-1], whole.replace(b"\n+A== 180\n", b"\n+A== 181\n"), b"", b"junk\n"):
        kept.write_bytes(damaged)
        assert run(said, tmp_path) == "3"
        assert kept.read_bytes() == whole


@given(st.sets(st.one_of(st.binary(min_size=1, max_size=4), st.binary(min_size=300, max_size=1500)), min_size=1, max_size=200), st.binary(max_size=4))
def test_any_token_of_a_vocabulary_is_found_with_its_rank_and_no_other(tokens: set[bytes], other: bytes) -> None:
    ranks = {token: rank for rank, token in enumerate(sorted(tokens, key=hash))}
    vocabulary = Vocabulary(in_order(b"".join(b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())))
    assert {token: vocabulary.rank(token) for token in tokens} == ranks
    assert vocabulary.rank(other) == ranks.get(other)
