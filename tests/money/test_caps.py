"""Caps, alerts and prices as a person meets them: `step`, `run`, `plan`, `status` and `cost` in a real repository."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from agent.actions.waiting import Waiter
from agent.domain.events import ignore
from agent.ledger import CapError
from agent.repository.repo import discover
from tests.project import ADDS, SOURCE, Project, call, edit, finish, reply

_PRICE = {"input": 100, "cached": 10, "output": 1000}  # a call of 1,500 in and 100 out costs 0.25 USD


@pytest.fixture
def listed(project: Project) -> Project:
    project.items("First", "Second")
    return project


def configure(project: Project, text: str) -> None:
    project.write(".agent/config.yaml", f"checks:\n  - sh check.sh\n{text}")
    project.commit("settings")


def looking(project: Project, calls: int = 9) -> None:
    """Each attempt looks around for so many calls, at 0.25 USD each and at most about 0.3 USD."""
    attempt = [reply(call("list", depth=1 + place), usage=(1500, 0, 100), usd=None) for place in range(calls)]
    project.record({"*": [attempt]}, price=_PRICE, limits={"window": 8000, "max_output": 100})


def spent(project: Project) -> float:
    return float(project.agentctl("cost", "--json").json["total"]["usd"])


def test_a_day_s_cap_met_in_the_middle_of_a_step_is_no_failed_attempt(listed: Project) -> None:
    configure(listed, "limits: {day_usd: 1}\n")
    looking(listed)
    before = listed.head()
    ran = listed.agentctl("step")
    assert (ran.code, listed.head(), listed.status()) == (5, before, "")
    assert "a day (UTC) may take 1 USD (limits.day_usd): 0." in ran.err
    assert "UTC; for more now: --day-usd" in ran.err
    assert 0.5 <= spent(listed) <= 1
    assert listed.agentctl("todo", "--json").json[0]["attempts"] == 0


def test_a_run_says_until_when_and_spends_nothing_on_a_day_that_is_used_up(listed: Project) -> None:
    configure(listed, "limits: {day_usd: 1}\n")
    looking(listed)
    ran = listed.agentctl("run", "--json")
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%dT00:00:00Z")
    assert (ran.code, ran.json["exit"], ran.json["until"]) == (5, 5, tomorrow)
    assert listed.agentctl("run", "--day-usd", "0.5").code == 5
    assert spent(listed) == ran.json["spent"]["usd"]


def test_a_total_cap_waits_for_a_person_and_an_option_stands_in_for_the_config(listed: Project) -> None:
    configure(listed, "limits: {total_usd: 0.1}\n")
    listed.record({"*": [[reply(ADDS, finish(), usage=(1500, 0, 100), usd=None)]]}, price=_PRICE, limits={"window": 8000, "max_output": 100})
    ran = listed.agentctl("run", "--json")
    assert (ran.code, ran.json["until"], spent(listed)) == (5, None, 0)
    assert "all of it may take 0.1 USD (limits.total_usd)" in ran.json["why"]
    assert listed.agentctl("step", "--total-usd", "5").code == 0


def test_tokens_have_caps(listed: Project) -> None:
    configure(listed, "limits: {day_tokens: 10000}\n")
    looking(listed)
    assert listed.agentctl("step").code == 5
    total = listed.agentctl("cost", "--json").json["total"]
    assert 4_000 <= total["input"] + total["output"] <= 10_000


def test_a_planner_s_calls_count_and_are_refused_too(listed: Project) -> None:
    configure(listed, "limits: {day_usd: 1}\n")
    attempt = [reply(call("list", depth=1 + place), usage=(1500, 0, 100), usd=None) for place in range(9)]
    listed.record({}, plan=[{"replies": attempt}], price=_PRICE, limits={"window": 8000, "max_output": 100})
    ran = listed.agentctl("plan")
    assert (ran.code, "limits.day_usd" in ran.err) == (5, True), ran.err
    assert 0.5 <= spent(listed) <= 1


@pytest.mark.parametrize("args", [("step", "--total-usd", "5"), ("run", "--steps", "1", "--max-cost", "5"), ("plan", "--day-usd", "5")])
def test_a_model_of_unknown_price_is_refused_under_a_cap_until_the_config_gives_its_price(listed: Project, args: tuple[str, ...]) -> None:
    propose = call("propose", title="Third", text="x")
    listed.record({"*": [[reply(ADDS, finish(), usd=None)]]}, plan=[{"replies": [reply(propose, finish(), usd=None)]}])
    ran = listed.agentctl(*args)
    name = f"scripted:{listed.recording}"
    assert (ran.code, f"the price of {name} is unknown" in ran.err) == (1, True), ran.err
    assert spent(listed) == 0
    configure(listed, ran.err[ran.err.index("prices: {") :])
    again = listed.agentctl(*args)
    assert again.code == 0, again.err
    assert spent(listed) == pytest.approx(0.00125)  # 1,000 in at 1 USD, 50 out at 5 USD a million


def test_the_limits_of_a_step_are_options_too(listed: Project) -> None:
    looking(listed)
    assert listed.agentctl("step", "--calls", "2").code == 5
    assert spent(listed) == 0.5
    listed.record({"*": [[reply(edit("calc.py", "a - b", "a + b\n#\n#"), finish(), text="x")]]})
    assert listed.agentctl("step", "--lines", "1", "--attempts", "1").code == 5
    assert listed.agentctl("todo", "--json").json[0]["state"] == "blocked"


def test_an_alert_runs_once_for_each_amount_without_keys_and_its_failure_is_only_told(listed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef0123456789abcdef")
    out = listed.recording.parent / "told"
    write = f'echo "$AGENTCTL_AMOUNT $AGENTCTL_SPENT ${{OPENAI_API_KEY:-none}} $AGENTCTL_ALERT" >> {out}; exit 3'
    configure(listed, f"alert:\n  usd: [0.4, 0.6, 9]\n  command: {json.dumps(write)}\n")
    looking(listed, calls=4)
    ran = listed.agentctl("step")
    lines = out.read_text().splitlines()
    assert [line.split()[:3] for line in lines] == [["0.4", "0.5000", "none"], ["0.6", "0.7500", "none"]]
    assert "agentctl has spent 0.50 USD in repo, and passed 0.4 USD" in lines[0]
    assert "the alert command failed, exit code 3" in ran.err
    alerts = listed.agentctl("status", "--json").json["alerts"]
    assert alerts == [{"usd": 0.4, "passed": True}, {"usd": 0.6, "passed": True}, {"usd": 9.0, "passed": False}]


def test_status_and_cost_show_caps_alerts_what_is_unsettled_and_the_cached_share(listed: Project) -> None:
    configure(listed, "limits: {day_usd: 2, total_tokens: 50000}\nalert: {usd: [0.1, 7]}\n")
    replies = [reply(ADDS, finish(), usage=(2000, 1500, 100), usd=0.5)]
    listed.record({"*": [replies]}, price=_PRICE, limits={"window": 8000, "max_output": 100})
    assert listed.agentctl("step").code == 0
    hold = {
        "name": "ab",
        "at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "step": "s",
        "item": "i",
        "model": "m",
        "usd": 0.25,
        "tokens": 900,
        "start": 0,
    }
    listed.write(".git/agentctl/holds/ab.json", json.dumps(hold))
    with (listed.root / ".git/agentctl/ledger.jsonl").open("ab") as ledger:
        ledger.write(b'{"at": "2026-11-29T1')
    for command in ("status", "cost"):
        said, data = listed.agentctl(command).out, listed.agentctl(command, "--json").json
        assert data["caps"] == [
            {"name": "total_tokens", "most": 50000.0, "spent": 2100, "held": 900, "left": 47000.0},
            {"name": "day_usd", "most": 2.0, "spent": 0.5, "held": 0.25, "left": 1.25},
        ]
        assert (data["torn"], data["unsettled"]) == (1, {"calls": 1, "usd": 0.25, "tokens": 900})
        assert "day_usd: 0.5000 USD of 2.0000 USD spent, up to 0.2500 USD unsettled, 1.2500 USD left" in said
        assert "total_tokens: 2,100 tokens of 50,000 tokens spent" in said
        assert "0.1 USD passed" in said
        assert "7 USD not reached" in said
        assert "(75 % cached)" in said


def test_the_steps_of_another_clone_count_against_the_caps(listed: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    listed.record({"*": [[reply(ADDS, finish(), usage=(1500, 0, 100), usd=None)]]}, price=_PRICE, limits={"window": 8000, "max_output": 100})
    assert listed.agentctl("step").code == 0
    there = tmp_path_factory.mktemp("clone") / "repo"
    listed.git("clone", "--quiet", str(listed.root), str(there))
    clone = Project(there, listed.recording)
    ran = clone.agentctl("step", "--day-usd", "0.5")
    assert (ran.code, "0.2500 USD are spent" in ran.err) == (5, True), ran.err
    assert clone.agentctl("status", "--json").json["caps"] == []


def test_two_work_trees_at_once_stay_under_one_cap(listed: Project) -> None:
    looking(listed)
    listed.git("worktree", "add", "--quiet", "-b", "other", "../other")
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-m", "agent", "run", "--total-usd", "2"]
    running = [subprocess.Popen(command, cwd=root, env=env, stderr=subprocess.PIPE) for root in (listed.root, listed.root.parent / "other")]
    said = [process.communicate(timeout=120)[1].decode() for process in running]
    assert [process.returncode for process in running] == [5, 5], said
    assert 1.25 <= spent(listed) <= 2


def test_waiting_goes_on_at_midnight_where_a_day_s_cap_was_met_and_not_where_only_a_person_can_raise_it(listed: Project) -> None:
    clock = [datetime(2026, 11, 29, 23, 59, 50, tzinfo=UTC)]

    def sleep(seconds: float) -> None:
        clock[0] += timedelta(seconds=seconds)

    waiter = Waiter(discover(listed.root), ignore, until=None, now=lambda: clock[0], sleep=sleep)
    waiter.begin()
    assert waiter.wait(CapError("met", "later", datetime(2026, 11, 30, tzinfo=UTC)))
    assert datetime(2026, 11, 30, tzinfo=UTC) <= clock[0] < datetime(2026, 11, 30, 0, 0, 10, tzinfo=UTC)
    assert not waiter.wait(CapError("met", "raise it", None))
