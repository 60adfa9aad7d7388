"""The sums of the ledger are the same with a cache as without."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.usage import NOTHING, Usage
from agent.ledger import Call, Ledger, Spent, calls

_usages = st.builds(Usage, st.none() | st.floats(0, 9).map(lambda usd: round(usd, 6)), st.integers(0, 99), st.integers(0, 9), st.integers(0, 99))
_calls = st.builds(
    Call, st.sampled_from(["2026-11-29T23:59:59Z", "2026-11-30T00:00:00Z"]), st.sampled_from("st"), st.just("i"), st.sampled_from("mn"), _usages
)


@pytest.fixture(autouse=True)
def keeps_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "_WORTH_KEEPING", 0)


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
    assert book.sums().spent == [Spent.of("s", "2026-11-29", "i", "m", Usage(0.3, 20, 2, 4, 1.0))]


def test_a_call_of_unknown_price_is_no_part_of_a_known_sum(tmp_path: Path) -> None:
    book = _book(tmp_path)
    for usd in (0.1, None):
        book.add(Call("2026-11-29T10:00:00Z", "s", "i", "m", Usage(usd, 10)))
    assert [one.usage for one in book.sums().spent] == [Usage(0.1, 10), Usage(None, 10)]


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
    assert book.sums().spent[0].usage.input == 10
    file = tmp_path / "ledger.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"input": 10', b'"input": 99'))
    assert book.sums().spent[0].usage.input == 99
    file.unlink()
    assert book.sums().spent == []


def test_a_line_that_is_still_being_written_is_never_kept_twice(tmp_path: Path) -> None:
    book = _book(tmp_path)
    book.add(Call("2026-11-29T10:00:00Z", "s", "i", "m", Usage(0.1, 10)))
    file = tmp_path / "ledger.jsonl"
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    assert sum((one.usage for one in book.sums().spent), NOTHING) == Usage(0.1, 10)
    book.add(Call("2026-11-29T10:00:01Z", "s", "i", "m", Usage(0.1, 10)))
    assert sum((one.usage for one in book.sums().spent), NOTHING) == Usage(0.2, 20)


_line = st.builds(lambda usd, given: Call("2026-11-29T10:00:00Z", "s", "i", "m", Usage(usd, given)), st.floats(0, 9), st.integers(0, 99))
_LIES = [b'{"usd": -5, "input": 1', b"\0\0\0", b"[]", b"{}", b'"x"', b"\xff\xfe", b"nan", *(
    json.dumps({"at": "2026-11-29", "step": "s", "item": "i", "model": "m", "usd": usd, "input": given, "cached": 0, "output": 0, "seconds": 0}).encode()
    for usd, given in ((-5.0, 1), (float("nan"), 1), (float("inf"), 1), (0.1, -1), (True, 1), ("x", 1))
)]  # fmt: skip


@given(st.lists(st.sampled_from(_LIES) | _line, max_size=12))
def test_torn_lines_at_the_end_or_in_the_middle_are_passed_over_and_counted_and_lower_no_sum(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes | Call]
) -> None:
    folder = tmp_path_factory.mktemp("ledger")
    book = Ledger(folder)
    for line in lines:
        if isinstance(line, Call):
            book.add(line)
        else:
            with (folder / "ledger.jsonl").open("ab") as file:
                file.write(line)  # without an end, as a crash leaves it
    whole = [line for line in lines if isinstance(line, Call)]
    sums = book.sums()
    assert sum(one.usage.usd or 0 for one in sums.spent) == pytest.approx(sum(one.usage.usd or 0 for one in whole))
    assert (sums.torn > 0) == (len(whole) < len(lines))
    assert book.sums() == sums


def test_a_ledger_that_can_not_be_read_is_an_error_and_not_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "ledger.jsonl").mkdir()
    with pytest.raises(OSError, match="directory"):
        Ledger(tmp_path).sums()
