"""The JUnit reports that a check wrote: files that are new or other than they were before it ran."""

from __future__ import annotations

import posixpath
import re
import stat
from collections.abc import Mapping
from pathlib import Path

from agent.beneath import Beneath
from agent.gate.formats.protocol import Tally

_BYTES = 20_000_000  # of all reports together; what is larger isn't read
_FILES = 5_000
_NAMED = re.compile(r"[\w./-]+\.xml\b")
_USUAL = (
    "*junit*.xml",
    "report*.xml",
    "test-results*.xml",
    "test-results/*.xml",
    "test-reports/*.xml",
    "reports/*.xml",
    "build/test-results/*/*.xml",
    "*/build/test-results/*/*.xml",
    "target/surefire-reports/*.xml",
    "*/target/surefire-reports/*.xml",
    "target/nextest/*/*.xml",
)
Stamps = Mapping[str, tuple[int, int, int]]


def stamps(root: Path, command: str) -> Stamps:
    """The files below `root` where `command` may write reports, each with what changes when it is written: those it names, and the usual places."""
    beneath = Beneath(root)
    places = [posixpath.normpath(name) for name in _NAMED.findall(command)]
    places += [path.relative_to(root).as_posix() for pattern in _USUAL for path in root.glob(pattern)]
    found: dict[str, tuple[int, int, int]] = {}
    for path in places[:_FILES]:
        told = beneath.look(path)
        if told is not None and stat.S_ISREG(told.st_mode):
            found[path] = (told.st_mtime_ns, told.st_size, told.st_ino)
    return found


def written(root: Path, command: str, before: Stamps) -> Tally:
    """What the reports tell that `command` wrote since `before`."""
    changed = [path for path, stamp in stamps(root, command).items() if before.get(path) != stamp]
    room = _BYTES
    texts: list[bytes] = []
    for path in changed:
        text = _read(Beneath(root), path, room)
        room -= len(text)
        texts.append(text)
    if room <= 0 or not texts:
        return Tally()
    from agent.gate.formats.junit import read_junit  # noqa: PLC0415 - with it comes an XML parser

    return read_junit(texts)


def _read(root: Beneath, path: str, most: int) -> bytes:
    try:
        with root.reading(path) as file:
            return file.read(max(most, 0))
    except OSError:
        return b""
