"""A bug of ours: what is known of it goes into a file that the person can send, and the terminal gets two lines."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from agent import __version__
from agent.domain.redact import redact
from agent.durable import write_whole
from agent.places import state_folder


def write_report(error: BaseException, args: Sequence[str]) -> Path | None:
    """Write what `error` was, without the person's keys, into their own state folder; None where that can't be written."""
    text = "\n".join(
        [
            f"agentctl {__version__}, Python {platform.python_version()}, {platform.platform()}",
            f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC: agentctl {' '.join(args)}",
            "",
            "".join(traceback.format_exception(error)),
        ]
    )
    folder = state_folder(os.environ)
    if folder is None:
        return None
    file = folder / "bugs" / f"{datetime.now(UTC):%Y-%m-%d-%H%M%S}-{os.getpid()}.txt"
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(file, redact(text, os.environ).encode("utf-8", "backslashreplace"))
        return file
    return None


def words_of(error: BaseException, args: Sequence[str]) -> tuple[str, str]:
    """What is said of it: a sentence with the error itself, and where the report is. Without a file the report goes to stderr."""
    message = f"this is a bug of agentctl: {traceback.format_exception_only(error)[-1].strip()}"
    file = write_report(error, args)
    if file is None:
        sys.stderr.write(redact("".join(traceback.format_exception(error)), os.environ))
        return message, "please report it with the lines above; your files and the work so far are safe: agentctl status"
    return message, f"please report it with {file}; your files and the work so far are safe: agentctl status"
