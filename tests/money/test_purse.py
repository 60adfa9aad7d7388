"""The purse: no call is sent that could pass a cap, however many processes send them."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.caps import Amount
from agent.domain.config import Limits
from agent.domain.usage import Usage
from agent.ledger import CapError, Ledger, Meter, Purse, Spent
from tests.project import SOURCE

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


def spend(purse: Purse, usd: float, most: float | None = None) -> None:
    purse.settle(purse.place("s", "i", "m", Amount(usd if most is None else most, 100)), Usage(usd, 80, 0, 20))


def test_a_day_s_cap_says_until_when_and_the_next_day_has_its_own(tmp_path: Path) -> None:
    clock = Clock()
    purse = Purse(tmp_path, Limits(day_usd=1), now=clock)
    spend(purse, 0.75)
    with pytest.raises(
        CapError, match=r"a day \(UTC\) may take 1 USD \(limits.day_usd\): 0.7500 USD are spent, and one more call could take 0.5000"
    ) as met:
        spend(purse, 0.1, most=0.5)
    assert met.value.until == datetime(2026, 11, 30, tzinfo=UTC)
    clock.now += timedelta(hours=12)
    spend(purse, 0.5)


def test_a_call_that_no_day_could_pay_is_no_matter_of_waiting(tmp_path: Path) -> None:
    with pytest.raises(CapError) as met:
        spend(Purse(tmp_path, Limits(day_usd=1), now=Clock()), 0.1, most=1.5)
    assert met.value.until is None


def test_a_call_counts_on_the_day_on_which_it_was_sent(tmp_path: Path) -> None:
    clock = Clock()
    clock.now = datetime(2026, 11, 29, 23, 59, 59, tzinfo=UTC)
    purse = Purse(tmp_path, Limits(day_usd=1), now=clock)
    hold = purse.place("s", "i", "m", Amount(1.0))
    clock.now += timedelta(seconds=2)
    spend(purse, 1.0)
    purse.settle(hold, Usage(1.0))
    assert [call.at[:10] for call in Ledger(tmp_path).read()[0]] == ["2026-11-30", "2026-11-29"]


def test_a_call_whose_fate_nobody_knows_counts_with_its_most_and_one_that_failed_for_nothing_does_not(tmp_path: Path) -> None:
    purse = Purse(tmp_path, Limits(total_usd=1), now=Clock())
    purse.release(purse.place("s", "i", "m", Amount(0.9)))
    purse.lose(purse.place("s", "i", "m", Amount(0.6)))
    for again in (purse, Purse(tmp_path, Limits(total_usd=1), now=Clock())):
        with pytest.raises(CapError, match=r"calls under way or broken off may take 0\.6000 USD") as met:
            spend(again, 0.5)
        assert met.value.until is None
    spend(purse, 0.4)


def test_tokens_have_caps_of_their_own_and_what_other_clones_spent_counts(tmp_path: Path) -> None:
    purse = Purse(tmp_path, Limits(day_tokens=250), lambda _: [Spent.of("t", "2026-11-29", "i", "m", Usage(9.0, 100))], now=Clock())
    spend(purse, 5)
    with pytest.raises(CapError, match=r"200 tokens are spent, and one more call could take 100 tokens"):
        spend(purse, 5)


def test_history_is_asked_again_where_the_ledger_goes_while_a_run_is_at_work(tmp_path: Path) -> None:
    told = Spent.of("s", "2026-11-29", "i", "m", Usage(0.9, 80, 0, 20))
    purse = Purse(tmp_path, Limits(total_usd=1), lambda here: [] if any(one.step == "s" for one in here) else [told], now=Clock())
    spend(purse, 0.05)
    (tmp_path / "ledger.jsonl").unlink()
    with pytest.raises(CapError, match=r"0.9000 USD are spent"):
        spend(purse, 0.2)


def test_a_kill_between_a_call_s_line_and_the_end_of_its_hold_counts_it_once(tmp_path: Path) -> None:
    purse = Purse(tmp_path, Limits(total_usd=1), now=Clock())
    hold = purse.place("s", "i", "m", Amount(0.6, 10))
    file = tmp_path / "holds" / f"{hold.name}.json"
    kept = file.read_bytes()
    purse.settle(hold, Usage(0.5, 5, 0, 5))
    file.write_bytes(kept)
    spend(Purse(tmp_path, Limits(total_usd=1), now=Clock()), 0.5)


def test_a_run_s_own_money_is_counted_over_its_steps(tmp_path: Path) -> None:
    meter = Meter(1.0)
    spend(Purse(tmp_path, Limits(), meter=meter), 0.5)
    purse = Purse(tmp_path, Limits(), meter=meter)
    purse.lose(purse.place("s", "i", "m", Amount(0.3)))
    with pytest.raises(CapError, match=r"this run may cost 1 USD \(--max-cost\)"):
        spend(purse, 0.25)
    spend(Purse(tmp_path, Limits()), 0.25)


def test_each_amount_is_told_once(tmp_path: Path) -> None:
    purse = Purse(tmp_path, Limits())
    told = []
    for _ in range(4):
        spend(purse, 3)
        told.append([amount for amount, _ in purse.passed((5.0, 6.0, 20.0))])
    assert told == [[], [5.0, 6.0], [], []]
    assert Purse(tmp_path, Limits()).passed((5.0, 11.0)) == [(11.0, 12.0)]


_calls = st.lists(
    st.tuples(
        st.floats(0.001, 2).map(lambda usd: round(usd, 6)),  # the most that it can cost
        st.floats(0, 1),  # the part of it that it costs
        st.sampled_from(["answered", "answered", "failed for nothing", "failed but cost", "lost", "killed"]),
        st.integers(0, 30_000),  # seconds since the call before
        st.integers(0, 2),  # which of three purses (work trees) sends it
    ),
    max_size=25,
)
_cap = st.none() | st.floats(0.01, 6).map(lambda usd: round(usd, 4))


@given(_calls, _cap, _cap, _cap)
def test_no_sum_ever_passes_a_cap_whatever_calls_cost_and_however_they_end(
    tmp_path_factory: pytest.TempPathFactory,
    calls: list[tuple[float, float, str, int, int]],
    day: float | None,
    total: float | None,
    run: float | None,
) -> None:
    folder, clock = tmp_path_factory.mktemp("purse"), Clock()
    limits = Limits(day_usd=day or math.inf, total_usd=total or math.inf)
    meter = Meter(run) if run is not None else Meter()
    purses = [Purse(folder, limits, meter=meter if number == 0 else None, now=clock) for number in range(3)]
    days: dict[str, float] = defaultdict(float)  # the independent sum, lost calls at what they did cost in truth
    own = listed = 0.0
    for most, part, fate, seconds, number in calls:
        clock.now += timedelta(seconds=seconds)
        cost = round(most * part, 9)
        try:
            hold = purses[number].place("s", "i", "m", Amount(most, 10))
        except CapError:
            continue
        if fate == "failed for nothing":
            purses[number].release(hold)
            continue
        if fate in ("answered", "failed but cost"):
            purses[number].settle(hold, Usage(cost, 5, 0, 5))
            listed += cost
        elif fate == "lost":
            purses[number].lose(hold)
        else:
            purses[number] = Purse(folder, limits, now=clock)
        days[f"{clock.now:%Y-%m-%d}"] += cost
        own += cost if number == 0 and fate != "killed" else 0
    assert all(spent <= (day or 1e9) + 1e-6 for spent in days.values())
    assert sum(days.values()) <= (total or 1e9) + 1e-6
    assert run is None or own <= run + 1e-6
    assert sum(one.usage.usd or 0 for one in Ledger(folder).sums().spent) == pytest.approx(listed, abs=1e-6)


_SPENDER = """
import sys, time
from pathlib import Path
from agent.domain.caps import Amount
from agent.domain.config import Limits
from agent.domain.usage import Usage
from agent.ledger import CapError, Purse
purse = Purse(Path(sys.argv[1]), Limits(total_usd=1))
spent = 0
while True:
    try:
        hold = purse.place("s", "i", "m", Amount(0.05, 10))
    except CapError:
        break
    time.sleep(0.001)
    purse.settle(hold, Usage(0.04, 5, 0, 5))
    spent += 1
print(spent)
"""


def test_processes_at_once_stay_under_one_cap_together(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    running = [subprocess.Popen([sys.executable, "-c", _SPENDER, str(tmp_path)], env=env, stdout=subprocess.PIPE) for _ in range(3)]
    counts = [int(process.communicate(timeout=60)[0]) for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    lines = [json.loads(line) for line in (tmp_path / "ledger.jsonl").read_text().splitlines()]
    assert len(lines) == sum(counts)
    assert 0.85 < sum(line["usd"] for line in lines) <= 1
    assert list((tmp_path / "holds").iterdir()) == []
