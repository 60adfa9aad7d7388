"""Waiting, with a clock of the test's own."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.chat import Request
from agent.domain.events import Event, Waiting
from agent.model.errors import Facts, Kind, ModelError, Origin, Reason, error_for
from agent.model.patient import Patience, PatientModel
from agent.model.protocol import Endpoint, Task
from agent.model.scripted import open_scripted

ASKED = Request((), (), 100)
RATE = error_for("openai/x", Facts(Origin.ANSWER, "slow down", 429))


def waits(patience: Patience, error: ModelError = RATE) -> Iterator[float]:
    """The waits of an outage in which every call fails at once with `error`."""
    while (seconds := patience.lost(0.0, error)) is not None:
        patience.wait(seconds)
        yield seconds


def rest(_seconds: float) -> None: ...


def test_each_wait_is_about_twice_the_one_before_up_to_five_minutes() -> None:
    found = list(itertools.islice(waits(Patience(1e9, sleep=rest)), 12))
    for place, seconds in enumerate(found):
        most = min(300.0, 2.0 * 2**place)
        assert most / 2 <= seconds <= most


@given(st.floats(1, 1e5), st.floats(0, 1e4))
def test_no_outage_is_waited_for_longer_than_patience_lasts(patience: float, wanted: float) -> None:
    error = error_for("openai/x", Facts(Origin.ANSWER, "", 429, retry_after=wanted))
    found = list(waits(Patience(patience, sleep=rest), error))
    assert sum(found) <= patience
    assert all(seconds >= wanted for seconds in found)


def test_what_is_asked_for_beyond_the_patience_is_refused_at_once() -> None:
    hour = error_for("openai/x", Facts(Origin.ANSWER, "", 429, retry_after=3600.0))
    assert list(waits(Patience(600, sleep=rest), hour)) == []
    assert "60 minutes" in hour.hint


def test_an_answer_that_is_none_and_a_process_that_dies_are_worth_a_few_tries_only() -> None:
    page = error_for("openai/x", Facts(Origin.LIBRARY, "<html>", 500))
    died = error_for("openai/x", Facts(Origin.DIED, "killed by signal 9"))
    assert len(list(waits(Patience(1e9, sleep=rest), page))) == 5
    assert len(list(waits(Patience(1e9, sleep=rest), died))) == 3


def test_after_an_answer_the_patience_is_whole_again() -> None:
    patience = Patience(100, sleep=rest)
    assert len(list(waits(patience))) > 3
    assert list(waits(patience)) == []
    patience.answered()
    assert len(list(waits(patience))) > 3


def test_the_clock_of_work_stands_still_from_the_failed_call_to_the_next() -> None:
    patience = Patience(1e9, first=0.02)
    began, real = patience.now(), time.monotonic()
    time.sleep(0.05)
    for _ in range(3):
        patience.wait(patience.lost(600.0, RATE) or 0.0)
    assert time.monotonic() - real > 0.1
    assert patience.now() - began == pytest.approx(0.05 - 1800.0, abs=0.05)


def recorded(folder: Path, *kinds: Kind, patience: Patience, heard: list[Event]) -> PatientModel:
    entries = [*({"error": {"kind": str(kind), "message": "no"}} for kind in kinds), {"text": "Here I am."}]
    (folder / "r.yaml").write_text(yaml.safe_dump({"items": {"x": [{"replies": entries}]}}))
    return PatientModel(open_scripted("scripted:r.yaml", endpoint=Endpoint(), task=Task("x"), root=folder), patience, heard.append)


def test_what_passes_is_waited_out_and_nothing_else(tmp_path: Path) -> None:
    heard: list[Event] = []
    model = recorded(tmp_path, Kind.WAIT, Kind.WAIT, patience=Patience(60, sleep=rest), heard=heard)
    assert model.complete(ASKED).text == "Here I am."
    assert [type(event) for event in heard] == [Waiting, Waiting]
    for kind in (Kind.MEND, Kind.STOP, Kind.BUG):
        heard.clear()
        with pytest.raises(ModelError) as caught:
            recorded(tmp_path, kind, patience=Patience(60, sleep=rest), heard=heard).complete(ASKED)
        assert (caught.value.reason, heard) == (Reason.RECORDING, [])
