"""Tells a service manager how things go: the protocol of sd_notify(3), which is a few lines to a Unix datagram socket."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Mapping


class ServiceManager:
    """Whoever started this process and wants to be told, by NOTIFY_SOCKET in `environment`; where nobody does, telling does nothing."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        place = environment.get("NOTIFY_SOCKET", "")
        self._address = f"\0{place[1:]}" if place.startswith("@") else place  # "@": an abstract socket, see unix(7)
        self._watchdog = environment.get("WATCHDOG_USEC", "") if environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid()) else ""

    @property
    def watchdog(self) -> float | None:
        """Seconds within which it wants `WATCHDOG=1` again, or None where it doesn't."""
        return int(self._watchdog) / 1_000_000 if self._address and self._watchdog.isdigit() and int(self._watchdog) > 0 else None

    def tell(self, **assignments: str) -> None:
        """Send `assignments`, such as READY="1". A manager that can't be reached is none of a step's trouble."""
        if not self._address:
            return
        lines = "".join(f"{name}={' '.join(value.split())}\n" for name, value in assignments.items())
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.settimeout(1)
            sender.sendto(lines.encode("utf-8", "replace"), self._address)
