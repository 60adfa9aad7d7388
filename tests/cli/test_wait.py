"""`agentctl run --wait`: it stays, and goes on when somebody has changed what kept it from going on."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from agent.actions.waiting import PAUSE, Waiter
from agent.domain.events import Event, Idle, Looked
from agent.ledger import CapError
from agent.repository.repo import discover
from tests.project import ADDS, SOURCE, Project, call, finish, reply


@contextlib.contextmanager
def waiting(project: Project, *args: str) -> Iterator[subprocess.Popen[str]]:
    """`agentctl run --wait` as a process."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    began = [sys.executable, "-m", "agent", "run", "--wait", *args]
    with subprocess.Popen(began, cwd=project.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()
            process.communicate()


def until(true: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def idle(project: Project) -> str:
    """What it waits for, as `status` tells it; "" while it doesn't wait."""
    told = project.agentctl("status", "--json").json["heartbeat"]
    return str(told["doing"]) if told and told["state"] == "waiting" else ""


def state(project: Project, item: str) -> str:
    return str({row["id"]: row["state"] for row in project.agentctl("todo", "--json").json}.get(item))


def test_it_takes_up_a_new_item_an_answer_and_an_undone_step_and_ends_with_ctrl_c(project: Project) -> None:
    project.record(
        {
            "first": [[reply(ADDS, finish())], [reply(ADDS, finish())]],
            "second": [[reply(call("ask", question="Red or blue?"))], [reply(call("write", path="blue", content="blue\n"), finish("blue"))]],
        }
    )
    with waiting(project) as process:
        until(lambda: idle(project) == "the list is empty")
        assert project.agentctl("todo", "add", "First").code == 0  # so it holds no lock
        until(lambda: state(project, "first") == "done")
        until(lambda: idle(project) == "nothing is left to do: all 1 items are done or dropped")
        assert project.agentctl("todo", "add", "Second").code == 0
        until(lambda: state(project, "second") == "blocked" and idle(project))
        assert project.agentctl("todo", "reopen", "second", "--because", "Blue.").code == 0
        until(lambda: state(project, "second") == "done" and idle(project))
        landed = next(line["commit"] for line in project.agentctl("log", "--json").json if line["item"] == "first")
        project.git("revert", "--no-edit", landed)
        until(lambda: project.git("rev-list", "--count", f"{landed}..HEAD", "--", "calc.py") == "2\n" and idle(project))
        assert state(project, "first") == "done"
        project.git("pack-refs", "--all")  # moves files about, but not HEAD
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130, err
    assert err.count("waiting for a commit: the list is empty") == 1
    assert "first landed" in out
    assert project.agentctl("status", "--json").json["heartbeat"] is None


def test_it_waits_for_a_tree_that_is_being_worked_in_and_says_so_once(project: Project) -> None:
    project.items("First")
    project.record({"first": [[reply(ADDS, finish())]]})
    project.write("calc.py", "half a thought")
    with waiting(project) as process:
        until(lambda: "tracked files are modified" in idle(project))
        project.git("checkout", "--", "calc.py")  # no commit tells of this
        until(lambda: state(project, "first") == "done" and idle(project))
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[1].count("tracked files are modified") == 1


def test_its_time_ends_it_while_it_waits(project: Project) -> None:
    with waiting(project, "--for", "3s") as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, "its time is over" in out) == (5, True), err


def test_what_no_commit_mends_ends_it(project: Project) -> None:
    project.items("First")
    project.recording.unlink(missing_ok=True)
    with waiting(project) as process:
        _, err = process.communicate(timeout=60)
    assert (process.returncode, "recording" in err) == (1, True)


def test_a_cap_for_a_day_is_waited_for_until_the_next_day_begins(project: Project) -> None:
    midnight = datetime(2026, 11, 30, tzinfo=UTC)
    slept: list[float] = []
    told: list[Event] = []
    waiter = Waiter(
        discover(project.root), told.append, until=None, now=lambda: midnight + timedelta(seconds=sum(slept) - 3 * PAUSE), sleep=slept.append
    )
    waiter.begin()
    assert waiter.wait(CapError("the day's cap is met", "goes on tomorrow", midnight))
    assert slept == [PAUSE] * 3
    assert told == [Idle("the day's cap is met", "goes on tomorrow"), Looked(), Looked(), Looked()]
    assert not waiter.wait(CapError("the cap in all is met", "raise it", None))
