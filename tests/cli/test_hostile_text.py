"""Text of strangers steers no terminal: every command, with a repository, a model and a check that try it everywhere, as text and as JSON."""

from __future__ import annotations

import contextlib
import io
import json
import re
import unicodedata
from collections.abc import Callable

import pytest

from agent.cli.main import _COMMANDS, run
from agent.render.terminal import guarded, styled
from tests.project import ADDS, CHECK, Project, call, finish, reply

EVIL = "x\x1b]0;owned\x07\x1b[2J\x1b[8m\x9b31m\x08\x7f\r\u202etxt\u2066\u200b\u2060\ufeff\U000e0041y"
SHORT = "x\x1b[2J\u202ey"
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]")
OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[[0-9]*[AK]|\x1b\[1?G?|\r")  # colours; rich's hidden cursor and rewritten line


class Tty(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def hostile(project: Project) -> Project:
    """Names, messages, authors, items, notes, lessons and instructions, all of which hold `EVIL`."""
    project.write(f"{SHORT}.txt", "x\n")
    project.write("AGENTS.md", f"# Rules\n\n{EVIL}\n")
    project.write(".agent/goal.md", f"A calculator {EVIL}\n")
    project.write(".agent/todo/first.md", f"# Make {EVIL}\n\nText {EVIL}\n")
    project.write(".agent/lessons/one.md", f"# Lesson {EVIL}\n\nText {EVIL}\n")
    project.write(
        ".agent/notes/2026-01-02/030405-older.done.md",
        f'---\nmodel: "m{SHORT!r}"\n---\n# Older {EVIL}\n\nDid {EVIL}\n\n## Handoff\n\nLetter {EVIL}\n',
    )
    project.write("check.sh", f"cat evil.txt; {CHECK}\n")
    project.write("evil.txt", f"{EVIL}\n")
    project.write(".agent/config.yaml", "checks:\n  - sh check.sh\ntranscripts: local\n")
    project.git("checkout", "-q", "-b", "br\u202eanch")
    project.git("add", ".")
    project.git("-c", f"user.name=Mallory {SHORT}", "commit", "-q", "-m", f"Subject {EVIL}\n\nBody {EVIL}\n\nAgent-Step: 2026-01-02-030405-older")
    project.record(
        {
            "first": [
                [
                    reply(
                        ADDS,
                        call(f"no{SHORT}", path=EVIL),
                        call("read", path=f"{SHORT}.txt"),
                        call("run", command=f"printf '{SHORT}'"),
                        finish(f"Done {EVIL}", f"Letter {EVIL}"),
                        text=f"Thinking {EVIL}",
                    )
                ]
            ],
            "*": [[reply(call("ask", question=f"What {EVIL}?"))]],
        }
    )
    return project


WALK: tuple[tuple[str, ...], ...] = (
    ("status",), ("status", "--json"), ("todo",), ("todo", "--all"), ("todo", "--json"), ("todo", "show", "first"), ("todo", "show", EVIL),
    ("context",), ("context", "--json"), ("context", "first"), ("context", "--at", EVIL),
    ("todo", "add", f"Add {EVIL}", "--text", EVIL), ("todo", "add", "With check", "--check", EVIL, "--after", SHORT),
    ("plan", "--each", "*.txt", "--title", "Look at {path}", "--allow", "no-change"), ("plan", "--from", EVIL), ("plan", "--each", EVIL, "--title", "x"),
    ("step", "first"), ("step", EVIL), ("step",), ("run", "--steps", "1"), ("step", "--json"),
    ("log",), ("log", "--json"), ("note",), ("note", "older"), ("note", EVIL), ("handoff",),
    ("transcript", "first"), ("transcript", "first", "--json"), ("transcript", EVIL), ("cost",), ("cost", "--json"),
    ("note", f"A letter {EVIL}", "--no-commit"), ("doctor",), ("doctor", "--json"), ("trust",), ("trust", "--json"), ("undo", "first", "--because", EVIL), ("undo", EVIL, "--because", ""),
    ("log",), ("status",), ("init",), ("demo", "--no-such"), (SHORT,), ("-C", EVIL, "status"),
)  # fmt: skip


def printed(project: Project, args: tuple[str, ...], stream: Callable[[], io.StringIO]) -> str:
    out, err = stream(), stream()
    with contextlib.chdir(project.root), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        run(list(args))
    return out.getvalue() + err.getvalue()


def test_no_command_prints_what_could_steer_a_terminal_or_hide_from_a_reader(hostile: Project) -> None:
    for args in WALK:
        text = printed(hostile, args, io.StringIO)
        found = FORBIDDEN.search(text)
        assert not found, f"{args}: {text[max(0, found.start() - 80) : found.end() + 20]!r}"


def test_on_a_terminal_there_is_nothing_but_our_own_colours_and_the_living_line(hostile: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "xterm")
    coloured = False
    for args in WALK:
        text = printed(hostile, args, Tty)
        coloured = coloured or "\x1b[1m" in text
        found = FORBIDDEN.search(OURS.sub("", text))
        assert not found, f"{args}: {text[max(0, found.start() - 80) : found.end() + 20]!r}"
        assert "\x1b[8m" not in text
        assert "\ue0f1" not in text
    assert coloured


def test_every_command_is_walked() -> None:
    assert set(_COMMANDS) <= {args[0] for args in WALK}


def test_json_tells_what_is_hidden_by_its_own_escapes_and_loses_nothing(hostile: Project) -> None:
    text = printed(hostile, ("todo", "--json"), io.StringIO)
    assert "\\u202e" in text
    assert "\\udb40\\udc41" in text
    (row,) = json.loads(text)
    assert row["title"] == f"Make {EVIL}".replace("\r", "\n").split("\n")[0] or "\u202e" in row["title"]


def test_whatever_is_written_at_any_place_comes_out_as_codes() -> None:
    out = Tty()
    with contextlib.redirect_stdout(out), guarded():
        for code in [*range(0x20), *range(0x7F, 0xA0), *range(0x2000, 0x2070), 0xFEFF, 0xE0041, 0xD800]:
            print(chr(code), end="")  # noqa: T201 - the door stands before whatever prints
        print(styled("bold", bold=True), end="")  # noqa: T201
    text = out.getvalue().replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert {char for char in text if unicodedata.category(char) in {"Cc", "Cf", "Cs"}} == {"\t", "\n"}
    assert out.getvalue().endswith("\x1b[1mbold\x1b[0m")
