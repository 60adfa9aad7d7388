"""Repositories to measure in: a small one, and one with a long history, written in seconds by `git fast-import`."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from agent.domain.message import step_message
from agent.domain.names import NoteName, Outcome, StepId, slug
from agent.domain.note import Note, render_note
from agent.domain.todo import Item, render_item
from agent.domain.usage import Usage

_BEGAN = datetime(2026, 1, 5, 8, 0, 0, tzinfo=UTC)
_APART = timedelta(minutes=11)
_MODULES = 200
_CALLS = 3  # model calls a step
_PEOPLE = 8  # commits of agentctl for each that a person makes between them
_ENDED = 90  # per cent of the items that are worked at; the others are still open
_REVERT = "revert"
# What happens to an item in a long history, one event in each pass over the list: attempts that fail, land, are undone or opened again.
_LIFE = (
    Outcome.FAILED, Outcome.DONE, _REVERT, Outcome.FAILED, Outcome.DONE, Outcome.REOPENED, Outcome.FAILED, Outcome.DONE, _REVERT,
    Outcome.FAILED, Outcome.DONE, Outcome.REOPENED, Outcome.FAILED, Outcome.DONE, Outcome.REOPENED, Outcome.DONE, Outcome.REOPENED, Outcome.DONE,
)  # fmt: skip
_ATTEMPTS = (Outcome.DONE, Outcome.FAILED)


@dataclass(frozen=True)
class Size:
    """How large a history is to be."""

    items: int
    steps: int
    lessons: int = 0


SMALL = Size(items=5, steps=5)
LARGE = Size(items=1_000, steps=10_000, lessons=200)


def repository(size: Size, env: Mapping[str, str]) -> Path:
    """A repository of that size in the temporary folder, made on the first call."""
    recipe = hashlib.sha256(Path(__file__).read_bytes() + repr(size).encode()).hexdigest()[:12]
    root = Path(tempfile.gettempdir()) / f"agentctl-bench-{size.items}-{size.steps}-{size.lessons}-{recipe}"
    if root.exists():
        return root
    making = root.with_name(f"{root.name}.{os.getpid()}")
    _git(making.parent, env, "init", "--quiet", "--initial-branch=main", str(making))
    subprocess.run(["git", "fast-import", "--quiet"], cwd=making, env=dict(env), input=b"".join(_Story(size).commits()), check=True)
    _git(making, env, "checkout", "--quiet", "--force", "main")
    shared = making / ".git" / "agentctl"
    shared.mkdir()
    (shared / "ledger.jsonl").write_text("".join(_ledger(size)), "utf-8")
    making.rename(root)
    return root


def _git(cwd: Path, env: Mapping[str, str], *args: str) -> None:
    subprocess.run(["git", *args], cwd=cwd, env=dict(env), check=True)


@dataclass(frozen=True)
class _Event:
    """A commit to come: what happened to which item, and when; `step` names its note."""

    what: str
    item: Item
    step: StepId


def _items(size: Size) -> list[Item]:
    titles = [f"Move part {number} of module {number % _MODULES} to the new interface" for number in range(size.items)]
    items = [Item(slug(title), title, _text(number)) for number, title in enumerate(titles)]
    return [
        replace(item, after=(items[number - 1].id,) if number % 7 == 3 else (), checks=("true",) if number % 5 == 0 else ())
        for number, item in enumerate(items)
    ]


def _text(number: int) -> str:
    return (
        f"Nothing in module_{number % _MODULES}.py calls old_{number}() any more.\n\nThe callers in part {number} pass `limit={number * 37 % 1009}`."
    )


def _events(size: Size) -> Iterator[_Event]:
    """Passes over the list, one event for each item, until there are as many attempts as wanted."""
    items = _items(size)
    worked_at = items[: max(1, len(items) * _ENDED // 100)]
    attempts, at = 0, _BEGAN
    last: dict[str, StepId] = {}
    for turn in range(size.steps * 2):
        what = _LIFE[turn // len(worked_at) % len(_LIFE)]
        item = worked_at[turn % len(worked_at)]
        at += _APART
        step = last[item.id] if what == _REVERT else StepId(at.strftime("%Y-%m-%d"), at.strftime("%H%M%S"), item.id)
        last[item.id] = step
        yield _Event(what, item, step)
        attempts += what in _ATTEMPTS
        if attempts == size.steps:
            return


def _usage(step: StepId) -> Usage:
    seed = int(hashlib.sha256(str(step).encode()).hexdigest()[:8], 16)
    return Usage(round(seed % 9973 / 30_000, 4), 20_000 + seed % 50_000, 10_000 + seed % 9_000, 900 + seed % 3_000, 40 + seed % 90)


def _note(event: _Event) -> Note:
    seed = hashlib.sha256(str(event.step).encode()).hexdigest()
    if event.what == Outcome.REOPENED:
        return Note.of(event.item.title, f"Opened again: the callers behind {seed[:12]} still use the old name, see the review of {event.step.day}.")
    text = (
        f"The calls of {event.item.id} go through the new interface now; {seed[:10]} was the one with a default of its own.\n\n"
        f"- kept the old name as an alias in {seed[10:18]}.py, since two tests import it\n- {seed[18:30]} needed an explicit limit"
    )
    letter = f"Next is what imports {seed[30:38]}. Mind that {seed[38:50]} is generated: change its template, not the file."
    return Note.of(event.item.title, text, letter, _usage(event.step), "anthropic/claude-sonnet-4-5", ("pytest -q: 214 passed in 4.1 s",))


def _lesson(number: int) -> tuple[str, str]:
    seed = hashlib.sha256(str(number).encode()).hexdigest()
    return (
        f".agent/lessons/lesson-{number}.md",
        f"# Module {number} wants {seed[:8]}\n\nIts tests fail without it, and say nothing but {seed[8:24]}.\n",
    )


class _Story:
    """The history as a stream for `git fast-import`."""

    def __init__(self, size: Size) -> None:
        self._size = size
        self._mark = 0

    def commits(self) -> Iterator[bytes]:
        yield self._commit(_BEGAN, "A small library\n", dict(self._library()))
        yield self._commit(_BEGAN, "Begin with agentctl\n", {".agent/config.yaml": "checks:\n  - 'true'\n", ".agent/goal.md": "One interface.\n"})
        yield self._commit(_BEGAN, "Plan\n", {f".agent/{item.path}": render_item(item) for item in _items(self._size)})
        if self._size.lessons:
            yield self._commit(_BEGAN, "Lessons\n", dict(map(_lesson, range(self._size.lessons))))
        marks: dict[StepId, int] = {}
        ends: dict[StepId, Outcome] = {}
        at = _BEGAN
        for number, event in enumerate(_events(self._size)):
            at += _APART
            if number % _PEOPLE == 0:
                yield self._commit(at, f"Fix a typo near {number}\n", {f"docs/page_{number % 50}.md": f"Page, read {number} times.\n"})
            if event.what == _REVERT:
                name = NoteName(event.step, ends[event.step])
                message = f'Revert "{event.item.title}"\n\nThis reverts commit {marks[event.step]:040x}.\n\nIt broke caller {number}.\n'
                yield self._commit(at, message, {}, [f".agent/{name.path}"])
                continue
            outcome = Outcome(event.what)
            note = _note(event)
            files = {f".agent/{NoteName(event.step, outcome).path}": render_note(note, event.step)}
            if outcome is Outcome.DONE:
                files[f"lib/module_{number % _MODULES}.py"] = f"LIMIT = {number}\n"
            yield self._commit(at, step_message(event.step, note, outcome), files)
            marks[event.step], ends[event.step] = self._mark, outcome

    def _library(self) -> Iterator[tuple[str, str]]:
        yield "AGENTS.md", "Run pytest -q before you say that something works.\n"
        for number in range(_MODULES):
            yield f"lib/module_{number}.py", "LIMIT = 0\n"

    def _commit(self, at: datetime, message: str, files: Mapping[str, str], gone: list[str] | None = None) -> bytes:
        self._mark += 1
        said = message.encode()
        lines = [f"commit refs/heads/main\nmark :{self._mark}\ncommitter Bench <bench@example.invalid> {int(at.timestamp())} +0000\n".encode()]
        lines.append(b"data %d\n%s\n" % (len(said), said))
        for path, text in files.items():
            data = text.encode()
            lines.append(f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n")
        lines += [f"D {path}\n".encode() for path in gone or ()]
        return b"".join(lines)


def _ledger(size: Size) -> Iterator[str]:
    """The calls of all attempts, as the ledger keeps them."""
    for event in _events(size):
        if event.what not in _ATTEMPTS:
            continue
        whole = _usage(event.step)
        for _ in range(_CALLS):
            line = {
                "at": f"{event.step.day}T{event.step.time[:2]}:{event.step.time[2:4]}:{event.step.time[4:]}Z",
                "step": str(event.step), "item": event.item.id, "model": "anthropic/claude-sonnet-4-5",
                "usd": round((whole.usd or 0) / _CALLS, 6), "input": whole.input // _CALLS, "cached": whole.cached // _CALLS,
                "output": whole.output // _CALLS, "seconds": round(whole.seconds / _CALLS, 3),
            }  # fmt: skip
            yield json.dumps(line, ensure_ascii=False) + "\n"


def at_steps(root: Path, env: Mapping[str, str], numbers: Sequence[int]) -> list[str]:
    """The commits of the first, second, … attempt of a history, for each of `numbers`."""
    told = subprocess.run(
        ["git", "log", "--reverse", "--format=%H", "--extended-regexp", "--grep=^Agent-Outcome: (done|failed)"],
        cwd=root, env=dict(env), check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    return [told[number - 1] for number in numbers]
