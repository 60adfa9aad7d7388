"""The heartbeat, as `agentctl status` tells it and as a service manager hears it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agent.actions.life import Alive, life
from agent.boot import boot_id
from agent.domain.events import CheckBegan, Phase, StepBegan
from agent.domain.pulse import Pulse, moved, render_pulse
from agent.heartbeat import beating
from tests.project import ADDS, SOURCE, Project, call, finish, reply


@contextlib.contextmanager
def at_work(project: Project, *args: str, command: str = "sleep 60", env: dict[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """A step whose model has called `run` with `command`."""
    project.items("First")
    project.record({"first": [[reply(call("run", command=command), ADDS, finish())]]})
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), **(env or {})}
    began = [sys.executable, "-m", "agent", "step", *args]
    with subprocess.Popen(began, cwd=project.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()
            process.communicate()


def status(project: Project) -> Any:
    return project.agentctl("status", "--json").json["heartbeat"]


def until(true: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_status_tells_what_a_process_is_at_and_that_it_died(project: Project) -> None:
    with at_work(project) as process:
        until(lambda: (status(project) or {}).get("doing") == "run sleep 60")
        told = status(project)
        assert (told["pid"], told["state"], told["item"], told["phase"], told["calls"]) == (process.pid, "working", "first", "work", 1)
        assert project.agentctl("status", "--json").json["running"] == process.pid
        assert f"process {process.pid}: first · work · run sleep 60, since " in project.agentctl("status").out
        process.kill()
        process.wait()
        assert (status(project)["state"], status(project)["why"]) == ("dead", "it died without a word")
        assert project.agentctl("status", "--json").json["running"] is None
    project.record({"first": [[reply(ADDS, finish())]]})
    assert project.agentctl("step").code == 0
    assert status(project) is None


def test_a_process_that_was_stopped_is_called_stuck(project: Project) -> None:
    with at_work(project) as process:
        until(lambda: (status(project) or {}).get("doing") == "run sleep 60")
        process.send_signal(signal.SIGSTOP)
        path = project.root / ".git/agentctl/heartbeat"
        pulse = json.loads(path.read_text())
        path.write_text(json.dumps(pulse | {"told": "2020-01-01T00:00:00Z"}))
        assert status(project)["state"] == "stuck"
        assert f"kill -CONT {process.pid}" in project.agentctl("status").out


@pytest.mark.parametrize(
    ("holder", "boot", "aged", "alive"),
    [
        (True, True, 0, Alive.WORKING),
        (True, True, 20_000, Alive.STUCK),
        (False, True, 0, Alive.WAITING),
        (False, False, 0, Alive.DEAD),
    ],
)
def test_who_lives_is_told_by_lock_boot_and_time(tmp_path: Path, *, holder: bool, boot: bool, aged: int, alive: Alive) -> None:
    now = datetime.now(UTC)
    began = now - timedelta(seconds=aged)
    pulse = moved(Pulse(os.getpid(), boot_id() if boot else "another", began, began, began), CheckBegan("sh check.sh", 60), began)
    (tmp_path / "heartbeat").write_text(render_pulse(replace(pulse, told=now)))
    found = life(tmp_path, os.getpid() if holder else None, now)
    assert found is not None
    assert found.alive is alive


def test_a_heartbeat_of_a_process_that_is_gone_is_dead_and_a_broken_one_is_none(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    now = datetime.now(UTC)
    (tmp_path / "heartbeat").write_text(render_pulse(Pulse(gone.pid, boot_id(), now, now, now)))
    found = life(tmp_path, None, now)
    assert found is not None
    assert found.alive is Alive.DEAD
    (tmp_path / "heartbeat").write_text('{"pid": 1')
    assert life(tmp_path, None, now) is None


def test_keys_are_in_no_heartbeat(tmp_path: Path) -> None:
    with beating(tmp_path, {"SOME_API_KEY": "correct-horse-battery"}) as hear:
        hear(StepBegan("2026-01-01-000000-first", "first", "scripted:x"))
        hear(CheckBegan("curl -H correct-horse-battery", 60))
        text = (tmp_path / "heartbeat").read_text()
        assert "curl" in text
        assert "correct-horse" not in text
    assert not (tmp_path / "heartbeat").exists()


@pytest.fixture(params=["file", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[socket.socket, str]]:
    """A service manager's socket, and what NOTIFY_SOCKET says of it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        place = str(tmp_path / "notify") if request.param == "file" else f"\0agentctl-test-{os.getpid()}"
        listener.bind(place)
        listener.settimeout(60)
        yield listener, place.replace("\0", "@")


def heard(listener: socket.socket, seconds: float) -> list[str]:
    """All lines that come within `seconds`."""
    lines: list[str] = []
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        listener.settimeout(left)
        with contextlib.suppress(TimeoutError):
            lines += listener.recv(65_536).decode().splitlines()
    return lines


def test_a_service_manager_hears_that_it_is_ready_what_it_does_and_that_it_ends(project: Project, manager: tuple[socket.socket, str]) -> None:
    listener, place = manager
    with at_work(project, command="true", env={"NOTIFY_SOCKET": place}) as process:
        lines: list[str] = []
        while "STOPPING=1" not in lines:
            lines += listener.recv(65_536).decode().splitlines()
        assert process.wait() == 0
    assert lines.count("READY=1") == 1
    assert "STATUS=first work run true" in lines
    assert "WATCHDOG=1" not in lines


def test_the_watchdog_is_fed_only_while_what_is_under_way_may_take_so_long(tmp_path: Path, manager: tuple[socket.socket, str]) -> None:
    listener, place = manager
    with beating(tmp_path, {"NOTIFY_SOCKET": place, "WATCHDOG_USEC": "300000"}) as hear:
        hear(Phase("work"))
        assert heard(listener, 1).count("WATCHDOG=1") >= 3
        hear(CheckBegan("sh check.sh", -60))  # hangs: it should have been over by now
        heard(listener, 0.3)
        assert "WATCHDOG=1" not in heard(listener, 1)
        hear(Phase("commit"))
        assert "WATCHDOG=1" in heard(listener, 1)


def test_another_process_s_watchdog_is_not_ours(tmp_path: Path, manager: tuple[socket.socket, str]) -> None:
    listener, place = manager
    with beating(tmp_path, {"NOTIFY_SOCKET": place, "WATCHDOG_USEC": "300000", "WATCHDOG_PID": "1"}) as hear:
        hear(Phase("work"))
        assert "WATCHDOG=1" not in heard(listener, 0.5)
