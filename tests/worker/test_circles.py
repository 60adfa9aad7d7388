"""When a session goes round in circles."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.worker.circles import Move, circle
from agent.worker.protocol import Ending
from tests.worker.bench import Bench
from tests.worker.talker import Talker, says, session


def moves(*pairs: tuple[str, str], change: bool = True) -> list[Move]:
    return [Move(call, result, change) for call, result in pairs]


def test_three_times_the_same_is_a_circle_whatever_it_took() -> None:
    run = [("run pytest", f"exit code 1 after {seconds} s\n1 failed in {seconds}s at 12:0{n}:11") for n, seconds in enumerate(("0.3", "1.25", "12"))]
    assert circle(moves(*run[:2])) == ""
    assert "3 times" in circle(moves(*run))
    assert circle(moves(*run[:2], ("run pytest", "exit code 1 after 1 s\n2 failed in 1s at 12:00:00"))) == ""


@pytest.mark.parametrize("period", range(2, 9))
def test_a_round_that_is_walked_twice_is_a_circle(period: int) -> None:
    lap = [(f"edit {n}", f"done {n}") for n in range(period)]
    assert circle(moves(("read", "x"), *lap, *lap[:-1])) == ""
    assert f"the same {period} calls" in circle(moves(("read", "x"), *lap, *lap))


def test_thirty_calls_without_a_change_are_a_circle() -> None:
    looks = [(f"read {n}", str(n)) for n in range(30)]
    assert circle(moves(*looks[:29], change=False)) == ""
    assert "30 calls" in circle(moves(*looks, change=False))
    assert circle([*moves(*looks[:29], change=False), Move("write", "ok", change=True)]) == ""


@given(st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), max_size=29, unique_by=lambda pair: pair[0]))
def test_work_that_never_repeats_a_call_is_no_circle(pairs: list[tuple[str, str]]) -> None:
    assert circle(moves(*pairs, change=False)) == ""


@given(st.lists(st.sampled_from("ab"), max_size=60))
def test_nobody_walks_the_same_few_ways_for_long(names: list[str]) -> None:
    found = [place for place in range(len(names) + 1) if circle(moves(*((name, "same") for name in names[:place])))]
    assert not names[8:] or found  # eight of two letters always hold three of one, or a round walked twice, at some end
    assert all(place >= 3 for place in found)


def test_the_model_is_told_once_and_then_the_session_ends(bench: Bench) -> None:
    talker = Talker(lambda _: says(("read", json.dumps({"path": "calc.py"}))))
    report = session(talker, bench.desk).work(None)
    assert (report.ending, len(talker.requests)) == (Ending.GAVE_UP, 6)
    assert "went round in circles" in report.note
    told = [message.text for message in talker.requests[3].messages if message.role == "user"]
    assert "circles: the same call came to the same result 3 times" in told[-1]
    assert not any("circles" in message.text for message in talker.requests[2].messages)


def test_a_model_that_finds_out_after_the_word_goes_on(bench: Bench) -> None:
    finish = json.dumps({"note": "Nothing stands in the way now, so it is done.", "letter": "Next."})
    talker = Talker(lambda n: says(("finish", finish)) if n == 5 else says(("list", "{}")))
    assert session(talker, bench.desk).work(None).ending is Ending.FINISHED
