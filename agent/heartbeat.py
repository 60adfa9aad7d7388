"""The heartbeat of a process at work: one small file that says where it stands, and a word to the service manager while nothing hangs."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from agent.boot import boot_id
from agent.domain.events import Event, Listener, Looked
from agent.domain.pulse import IDLE, Pulse, moved, parse_pulse, render_pulse
from agent.domain.redact import redact
from agent.domain.text import one_line
from agent.durable import read_own, write_hint
from agent.notify import ServiceManager

EVERY = 5.0
"""Seconds between two beats at most, whatever happens."""

_NAME = "heartbeat"


@contextlib.contextmanager
def beating(folder: Path, environment: Mapping[str, str]) -> Iterator[Listener]:
    """A listener that keeps the heartbeat in `folder` from the first event on; at the end the file is taken away.

    A service manager hears READY=1 with the first event, STATUS= with each, STOPPING=1 at the end, and WATCHDOG=1 for as long as what is
    under way stays within the time that it may take.
    """
    heart = _Heart(folder / _NAME, environment)
    try:
        yield heart.hear
    finally:
        heart.stop()


def read_heartbeat(folder: Path) -> Pulse | None:
    """What the process at work in `folder` last told, or one that died there; None where there is nothing to read."""
    try:
        return parse_pulse(read_own(folder / _NAME).decode("utf-8"))
    except (OSError, ValueError):
        return None


class _Heart:
    def __init__(self, path: Path, environment: Mapping[str, str]) -> None:
        self._path = path
        self._environment = environment
        self._manager = ServiceManager(environment)
        self._guard = threading.Lock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        now = datetime.now(UTC)
        self._pulse = Pulse(os.getpid(), boot_id(), now, now, now)
        self._due = time.monotonic()

    def hear(self, event: Event) -> None:
        now = datetime.now(UTC)
        pulse = moved(self._pulse, event, now)
        self._pulse = replace(pulse, doing=one_line(redact(pulse.doing, self._environment)))
        self._due = time.monotonic() + (pulse.due - now).total_seconds()
        if isinstance(event, Looked) and self._thread is not None:
            return
        status = {"STATUS": f"{self._pulse.item} {self._pulse.phase} {self._pulse.doing}"}
        if self._thread is None:
            self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
            self._thread.start()
            status["READY"] = "1"
        self._write()
        self._manager.tell(**status)

    def stop(self) -> None:
        if self._thread is None:
            return
        self._over.set()
        self._thread.join()
        self._manager.tell(STOPPING="1")
        with contextlib.suppress(OSError):
            if (own := read_heartbeat(self._path.parent)) and own.pid == self._pulse.pid:
                self._path.unlink(missing_ok=True)

    def _beat(self) -> None:
        watchdog = self._manager.watchdog
        pause = EVERY if watchdog is None else min(EVERY, watchdog / 3)
        while True:
            if watchdog is not None and time.monotonic() < self._due:
                self._manager.tell(WATCHDOG="1")
            if self._over.wait(pause):
                return
            self._write()

    def _is_anothers(self) -> bool:
        """Whether the file is that of a process that beats, while this one only waits."""
        there = read_heartbeat(self._path.parent)
        return there is not None and there.pid != self._pulse.pid and (datetime.now(UTC) - there.told).total_seconds() < 2 * EVERY

    def _write(self) -> None:
        if self._pulse.phase == IDLE and self._is_anothers():
            return
        with self._guard, contextlib.suppress(OSError):
            write_hint(self._path, render_pulse(replace(self._pulse, told=datetime.now(UTC))).encode())
