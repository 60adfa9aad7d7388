"""From a report and a verdict to the note, the files and the message of a step's commit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import replace

from agent.domain.fingerprint import keep_all_apart
from agent.domain.lesson import Lesson, render_lesson
from agent.domain.memory import Memory
from agent.domain.message import step_message
from agent.domain.names import NoteName, Outcome, StepId, slug_with_tail
from agent.domain.note import Note, render_note
from agent.domain.output import fold_output
from agent.domain.progress import Proposed, Remembered
from agent.domain.redact import redact
from agent.domain.text import one_line
from agent.domain.todo import Item, render_item, tidy_text, tidy_title, title_key
from agent.domain.usage import Usage
from agent.gate.fewer import redder
from agent.gate.protocol import Baseline, CheckResult, Verdict
from agent.worker.protocol import Report

_EXCERPT = 1200  # characters of a red check's output in a note
_ALLOWED = 500  # characters of what the item let through


_NOT_IN_THE_TREE = "This session's work did not land and was put back: nothing of it is in the tree. What it had written for its successor:"


class Means(Struct, frozen=True):
    """What a step worked with: its model, its sandbox where that is weaker than it should be, and what sessions that it went on from had used."""

    model: str
    sandbox: str = ""
    earlier: Mapping[StepId, Usage] = field(default_factory=dict)


class Writing(Struct, frozen=True):
    """A note with its name, the files of its commit (path inside `.agent/`, text) and the commit's message."""

    name: NoteName
    note: Note
    files: tuple[tuple[str, str], ...]
    message: str


def safe(text: str) -> str:
    """`text` without this process's keys, and whatever else looks like one. It comes before any cut or wrap: half a key is found by nobody."""
    return redact(text, os.environ)


def write_up(step: StepId, outcome: Outcome, note: Note, more: Sequence[tuple[str, str]] = (), told: Note | None = None) -> Writing:
    """The commit of a note: its file, `more` files, and the message with the trailers, which tells `told` where the note is not for it.

    Whoever wrote the note, and whatever a check, a hook or a person put into it: file and message are `safe`.
    """
    name = NoteName(step, outcome)
    note = _safe_note(note)
    message = step_message(step, _safe_note(told) if told else note, outcome)
    return Writing(name, note, ((name.path, render_note(note, step)), *more), message)


def _safe_note(note: Note) -> Note:
    checked = tuple(safe(line) for line in note.checked)
    return Note.of(safe(note.title), safe(note.text), safe(note.letter), note.spent, safe(note.model), checked, note.sandbox, note.earlier)


def clean(report: Report) -> Report:
    """The report with all its texts `safe`."""
    return replace(
        report,
        note=safe(report.note),
        letter=safe(report.letter),
        lessons=tuple(Remembered(safe(one.title), safe(one.text)) for one in report.lessons),
        proposals=tuple(Proposed(safe(one.title), safe(one.text), safe(one.check)) for one in report.proposals),
    )


def landed(step: StepId, item: Item, report: Report, usage: Usage, means: Means, checked: Sequence[str], memory: Memory) -> Writing:
    """The write-up of a step whose gate is green, with the items and lessons that it leaves."""
    note = Note.of(item.title, report.note, report.letter, usage, means.model, tuple(checked), means.sandbox, means.earlier)
    more = [*proposed_files(report.proposals, memory, step), *lesson_files(report.lessons, memory, step)]
    return write_up(step, Outcome.DONE, note, more)


def checked_lines(verdict: Verdict, before: Mapping[str, Baseline]) -> tuple[str, ...]:
    """One line a check for the note's head, one that was red before the step named as such; then what the item let through."""
    lines = tuple(_checked(one, before.get(one.command)) for one in verdict.checks)
    return (*lines, *(one_line(safe(text), _ALLOWED) for text in verdict.allowed))


def _checked(result: CheckResult, before: Baseline | None) -> str:
    then = redder(result, before) if not result.ok else "was red before" if before and not before.ok else ""
    return f"{one_line(safe(result.command), 100)}: {safe(result.summary)}" + (f" ({then})" if then else "")


def failed(
    step: StepId,
    outcome: Outcome,
    item: Item,
    ending: Report,
    claimed: Report | None,
    verdict: Verdict | None,
    usage: Usage,
    means: Means,
    before: Mapping[str, Baseline] = MappingProxyType({}),
) -> Writing:
    """The write-up of a step that didn't land: why, and the note and letter of what was last handed in (`claimed`), as a claim."""
    parts = [_why(verdict) if verdict else "", ending.note]
    if claimed:
        parts.append(f"What the worker said it had done:\n\n{claimed.note}")
    if ending.lessons:
        parts.append("What it found out:\n\n" + "\n".join(f"- {lesson.title}: {' '.join(lesson.text.split())}" for lesson in ending.lessons))
    checked = checked_lines(verdict, before) if verdict else ()
    letter = f"{_NOT_IN_THE_TREE}\n\n{claimed.letter}" if claimed else ""
    note = Note.of(item.title, "\n\n".join(part for part in parts if part), letter, usage, means.model, checked, means.sandbox, means.earlier)
    return write_up(step, outcome, note)


def _why(verdict: Verdict) -> str:
    red = verdict.red
    reasons = [*verdict.findings, *(f"`{check.command}`: {check.summary}" for check in red)]
    text = (
        f"The step did not land: {reasons[0]}" if len(reasons) == 1 else "The step did not land:\n" + "\n".join(f"- {reason}" for reason in reasons)
    )
    if red and red[0].output:
        text += f"\n\n```\n{fold_output(safe(red[0].output), _EXCERPT).replace('```', chr(39) * 3)}\n```"
    return text


def asked(step: StepId, item: Item, report: Report, usage: Usage, means: Means) -> Writing:
    """The write-up of a step that stopped at a question: the item waits for a person."""
    note = Note.of(item.title, f"A question to a person:\n\n{report.note}", report.letter, usage, means.model, (), means.sandbox, means.earlier)
    return write_up(step, Outcome.BLOCKED, note)


def proposed_files(proposals: Sequence[Proposed], memory: Memory, step: StepId) -> list[tuple[str, str]]:
    """Files of proposed items; a title that the list has already is not added twice."""
    if not proposals:
        return []
    taken = {title_key(item.title) for item in memory.items}
    files = []
    for proposal in proposals:
        title, text, check = tidy_title(safe(proposal.title)), tidy_text(safe(proposal.text)), safe(proposal.check).strip()
        if not title or title_key(title) in taken:
            continue
        taken.add(title_key(title))
        item = Item(slug_with_tail(title, f"{step} {title}"), title, text, checks=(check,) if check else ())
        files.append((item.path, render_item(item)))
    return keep_all_apart(files, [f"{item.text}\n" for item in memory.items])


def lesson_files(lessons: Sequence[Remembered], memory: Memory, step: StepId) -> list[tuple[str, str]]:
    """Files of lessons; one that is there already in the same words is not added twice."""
    taken = {(title_key(lesson.title), lesson.text) for lesson in memory.lessons}
    files = []
    for one in lessons:
        title, text = tidy_title(safe(one.title)), tidy_text(safe(one.text))
        if not title or (title_key(title), text) in taken:
            continue
        taken.add((title_key(title), text))
        lesson = Lesson(slug_with_tail(title, f"{step} {title}"), title, text)
        files.append((lesson.path, render_lesson(lesson)))
    return files
