"""What a process can do so that others of the same user can't read its keys."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress

_PR_SET_DUMPABLE = 4  # linux/prctl.h


def hide_own_memory() -> bool:
    """Let no process of the same user read this one's environment and memory, or trace it, from now on. True where the system agreed.

    Linux only, and no help against root. It holds for this process alone: one that is started by it has to ask for itself.
    """
    if sys.platform != "linux":
        return False
    with suppress(OSError, AttributeError):
        return int(ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)) == 0
    return False
