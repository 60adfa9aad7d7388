"""`agentctl run`: step after step, within bounds, waiting for what passes by itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.model.chat_server import ChatServer, calls, fault
from tests.project import ADDS, Project, call, edit, finish, reply


def writes(name: str, usd: float = 0.25) -> list[dict[str, object]]:
    return [reply(call("write", path=name, content="x = 1\n"), finish(f"{name} is there."), usd=usd)]


@pytest.fixture
def three(project: Project) -> Project:
    """Three items: the first makes the check pass, the second never lands, the third does."""
    project.items("First", "Second", "Third")
    project.record(
        {
            "first": [[reply(ADDS, finish(), usd=0.25)]],
            "second": [[reply(edit("calc.py", "a + b", "a * b"), finish(), usd=0.25)]],
            "third": [writes("third.py")],
        }
    )
    return project


def test_a_run_goes_on_past_failures_and_blocked_items_until_only_a_person_can(three: Project) -> None:
    ran = three.agentctl("run")
    assert ran.code == 6, ran.err
    assert [row["state"] for row in three.agentctl("todo", "--json").json] == ["done", "blocked", "done"]
    assert "5 steps: 2 landed, 2 did not land, 1 is blocked; 1.2500 USD" in ran.out
    assert "2 of 3 done, 1 blocked" in ran.out
    assert three.status() == ""


def test_a_list_that_was_worked_off_is_success_and_one_that_was_done_before_is_told(project: Project) -> None:
    project.items("First")
    project.record({"first": [[reply(ADDS, finish())]]})
    assert project.agentctl("run").code == 0
    assert project.agentctl("run").code == 3


def test_no_more_steps_are_taken_than_asked_for(three: Project) -> None:
    ran = three.agentctl("run", "--steps", "2", "--json")
    assert (ran.code, len(ran.json["steps"])) == (0, 2)


def test_a_run_whose_time_is_over_takes_no_step(three: Project) -> None:
    ran = three.agentctl("run", "--for", "0s")
    assert (ran.code, "its time is over" in ran.out) == (5, True)


def test_money_is_checked_before_a_call_with_the_most_that_it_could_cost(three: Project) -> None:
    attempt = [reply(call("list"), usage=(1500, 0, 100), usd=None) for _ in range(9)]
    three.record({"*": [attempt]}, price={"input": 100, "cached": 10, "output": 1000}, limits={"window": 8000, "max_output": 100})
    ran = three.agentctl("run", "--max-cost", "1", "--json")
    assert ran.code == 5, ran.err
    assert 0.5 <= ran.json["spent"]["usd"] <= 1
    assert ran.json["spent"]["usd"] == three.agentctl("cost", "--json").json["total"]["usd"]


def test_a_cap_that_cannot_be_kept_is_refused(three: Project) -> None:
    ran = three.agentctl("run", "--max-cost", "1")
    assert (ran.code, "is unknown, so a cap on money could not be kept" in ran.err) == (1, True), ran.err
    assert three.agentctl("cost", "--json").json["total"]["output"] == 0


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


def test_a_rate_limit_and_an_outage_are_waited_out_and_the_process_is_kept(
    project: Project, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef0123456789abcdef")
    monkeypatch.setenv("AGENTCTL_API_BASE", server.url)
    monkeypatch.setenv("AGENTCTL_MODEL", "openai/gpt-4o-2024-08-06")
    project.items("First", "Second")
    adds = ("edit", {"path": "calc.py", "old": "a - b", "new": "a + b"})
    done = ("finish", {"note": "Done.", "letter": "Next."})
    server.says(
        fault(429, "slow down", headers={"Retry-After": "1"}),
        fault(503, "overloaded"),
        calls(adds, done),
        calls(("write", {"path": "two.py", "content": "x = 2\n"}), done),
    )
    ran = project.process("run")
    assert ran.code == 0, ran.err
    assert len(server.requests) == 4
    assert "waiting" in ran.err
    assert [row["state"] for row in project.agentctl("todo", "--json").json] == ["done", "done"]
    assert [row["attempts"] for row in project.agentctl("todo", "--json").json] == [1, 1]
