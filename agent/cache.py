"""Caches in the git directory: what follows from something else and takes longer to work out than to read.

Each may be deleted at any time. One that is torn, damaged or written by anything else counts as not there, so none is synced.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any

from agent.durable import read_own, write_hint


def kept(path: Path) -> Any:
    """What `keep` wrote at `path`, as JSON gives it back; None where that is not there whole."""
    try:
        digest, _, data = read_own(path).partition(b"\n")
    except OSError:
        return None
    return json.loads(data) if digest == _digest(data) else None


def keep(path: Path, value: object) -> None:
    """Keep `value`, which JSON can hold; where that fails, it is worked out again."""
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    with contextlib.suppress(OSError):
        write_hint(path, _digest(data) + b"\n" + data)


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()
