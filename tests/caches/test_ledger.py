"""The sums of the ledger are the same with a cache as without."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import ledger
from agent.domain.usage import NOTHING, Usage
from agent.ledger import Call, Ledger, Spent

_usages = st.builds(Usage, st.none() | st.floats(0, 9).map(lambda usd: round(usd, 6)), st.integers(0, 99), st.integers(0, 9), st.integers(0, 99))
_calls = st.builds(
    Call, st.sampled_from(["2026-11-29T23:59:59Z", "2026-11-30T00:00:00Z"]), st.sampled_from("st"), st.just("i"), st.sampled_from("mn"), _usages
)


@pytest.fixture(autouse=True)
def keeps_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "_WORTH_KEEPING", 0)


def _book(tmp_path: Path) -> Ledger:
    shutil.rmtree(tmp_path, ignore_errors=True)
    return Ledger(tmp_path)


@given(st.lists(st.lists(_calls, max_size=4), max_size=4))
def test_any_calls_add_up_alike_whenever_the_cache_was_written(tmp_path_factory: pytest.TempPathFactory, batches: list[list[Call]]) -> None:
    folder = tmp_path_factory.mktemp("ledger")
    for batch in batches:
        for call in batch:
            Ledger(folder).add(call)
        cached = Ledger(folder).sums()
        assert Ledger(folder).sums() == cached
        shutil.rmtree(folder / "cache", ignore_errors=True)
        assert Ledger(folder).sums() == cached


def test_calls_of_one_step_day_and_model_become_one_sum(tmp_path: Path) -> None:
    book = _book(tmp_path)
    for usd in (0.1, 0.2):
        book.add(Call("2026-11-29T10:00:00Z", "s", "i", "m", Usage(usd, 10, 1, 2, 0.5)))
    assert book.sums() == [Spent("s", "2026-11-29", "i", "m", Usage(0.3, 20, 2, 4, 1.0))]


def test_a_call_of_unknown_price_is_no_part_of_a_known_sum(tmp_path: Path) -> None:
    book = _book(tmp_path)
    for usd in (0.1, None):
        book.add(Call("2026-11-29T10:00:00Z", "s", "i", "m", Usage(usd, 10)))
    assert [one.usage for one in book.sums()] == [Usage(0.1, 10), Usage(None, 10)]


@pytest.mark.parametrize("broken", [b"", b"{", b"[]", b'{"bytes": "x"}', b'{"bytes": 1, "sha256": "", "sums": []}'])
def test_a_broken_cache_counts_for_nothing(tmp_path: Path, broken: bytes) -> None:
    book = _book(tmp_path)
    book.add(Call("2026-11-29T10:00:00Z", "s", "i", "m", Usage(0.1, 10)))
    sums = book.sums()
    next((tmp_path / "cache").iterdir()).write_bytes(broken)
    assert book.sums() == sums


def test_a_ledger_that_was_edited_or_taken_away_is_added_up_anew(tmp_path: Path) -> None:
    book = _book(tmp_path)
    book.add(Call("2026-11-29T10:00:00Z", "s", "i", "m", Usage(0.1, 10)))
    assert book.sums()[0].usage.input == 10
    file = tmp_path / "ledger.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"input": 10', b'"input": 99'))
    assert book.sums()[0].usage.input == 99
    file.unlink()
    assert book.sums() == []


def test_a_line_that_is_still_being_written_is_never_kept_twice(tmp_path: Path) -> None:
    book = _book(tmp_path)
    book.add(Call("2026-11-29T10:00:00Z", "s", "i", "m", Usage(0.1, 10)))
    file = tmp_path / "ledger.jsonl"
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    assert sum((one.usage for one in book.sums()), NOTHING) == Usage(0.1, 10)
    book.add(Call("2026-11-29T10:00:01Z", "s", "i", "m", Usage(0.1, 10)))
    assert sum((one.usage for one in book.sums()), NOTHING) == Usage(0.2, 20)
