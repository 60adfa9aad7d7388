"""Which start of the machine this is."""

from __future__ import annotations

from pathlib import Path


def boot_id() -> str:
    """A name that no other start of this machine has; "" where the system gives none (see random(4))."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""
