"""A link, FIFO, socket, device or folder in the place of a file of agentctl's: nothing waits for it or follows it, and it is told in one sentence."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.fuzz.examples import in_time
from tests.project import ADDS, Project, call, finish, reply

FILES = {
    **dict.fromkeys((".agent/goal.md", ".agent/todo", ".agent/notes", ".agent/lessons/*", ".agent/notes/*/*.done.md"), (("note", "A letter"),)),
    **dict.fromkeys((".agent/config.yaml", ".agent/todo/second.md"), (("step",), ("doctor",))),
    **dict.fromkeys((".git/agentctl/heartbeat", ".git/agentctl/cache/*.json", ".git/agentctl/holds", ".git/agentctl/undo.json"), (("status",),)),
    **dict.fromkeys((".git/agentctl/ledger.jsonl", ".git/agentctl/lock"), (("status",), ("step",))),
    **{
        f".git/agentctl/{name}": (("step",),)
        for name in ("journal.json", "purse.lock", "alerts.json", "claimed", "claimed.lock", "holds/0.json", "clone")
    },
}


def _socket(place: Path) -> None:
    before = os.open(".", os.O_RDONLY)
    os.chdir(place.parent)  # the name of a socket has a hundred bytes
    try:
        with closing(socket.socket(socket.AF_UNIX)) as listener:
            listener.bind(place.name)
    finally:
        os.fchdir(before)
        os.close(before)


def _folder(place: Path) -> None:
    place.mkdir()
    (place / "inside").write_bytes(b"x")


KINDS: dict[str, Callable[[Path], object]] = {
    "FIFO": os.mkfifo,
    "socket": _socket,
    "folder": _folder,
    "link to a file outside": lambda place: place.symlink_to(next(above for above in place.parents if above.name == "repo").parent / "outside"),
    "link to nothing": lambda place: place.symlink_to("nowhere/at/all"),
    "link to itself": lambda place: place.symlink_to(place.name),
    "device without end": lambda place: place.symlink_to("/dev/zero"),
}


@pytest.mark.usefixtures("unconfined")
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_is_in_place_of_a_file_no_command_hangs_or_follows_it(project: Project, kind: str) -> None:
    project.items("First", "Second")
    remembering = call("remember", title="Ports", text="Ask for one.")
    project.record({"*": [[reply(ADDS, remembering, finish())]]})
    assert project.agentctl("step", "first").code == 0
    before = project.head()
    outside = project.root.parent / "outside"
    outside.write_text("not to be touched\n")
    for pattern, commands in FILES.items():
        for place in sorted(project.root.glob(pattern)) or [project.root / pattern]:
            away = project.root.parent / "away"
            place.parent.mkdir(parents=True, exist_ok=True)
            there = place.exists()
            if there:
                place.rename(away)
            KINDS[kind](place)
            for command in commands:
                with in_time(20):
                    ran = project.agentctl(*command)
                where = f"{kind} at {place}: {command}\n{ran.err}"
                assert ran.code != 70, where
                assert re.fullmatch(r"(?s)(?!.*Traceback).*", ran.err), where
                if ran.code == 1 and command != ("doctor",):
                    assert re.search(r"^agentctl: .+\n  .+\n\Z", ran.err, re.MULTILINE), where
                assert outside.read_text() == "not to be touched\n", where
            _take_away(place)
            if there:
                away.rename(place)
            project.git("reset", "--quiet", "--hard", before)


def _take_away(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        for inside in place.iterdir():
            _take_away(inside)
        place.rmdir()
    elif place.is_symlink() or place.exists():
        place.unlink()
