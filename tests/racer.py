"""A process that swaps a folder and a link for each other as fast as it can."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# renameat2(2) with RENAME_EXCHANGE, which Python has no call for; it ends when its input does, so with whoever started it.
_SWAP = """
import ctypes, os, select, sys
libc = ctypes.CDLL(None, use_errno=True)
one, two = (os.fsencode(name) for name in sys.argv[1:])
count = 0
while not select.select([0], [], [], 0)[0]:
    for _ in range(200):
        if libc.renameat2(-100, one, -100, two, 2) and ctypes.get_errno() != 2:
            sys.exit(os.strerror(ctypes.get_errno()))
    count += 200
    if count == 200:
        print("at work", flush=True)
"""


@contextmanager
def swapping(one: Path, two: Path) -> Iterator[None]:
    """While this lasts, a process swaps what the two names stand for, some hundred thousand times a second."""
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", _SWAP, str(one), str(two)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"at work\n"
        yield
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(30) == 0
