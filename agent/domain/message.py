"""The commit message of a step, and what can be read back from messages, squashed ones too."""

from __future__ import annotations

import re
from textwrap import wrap

from msgspec import Struct
from msgspec.structs import replace

from agent.domain.names import Outcome, StepId
from agent.domain.note import Note, first_paragraph
from agent.domain.text import one_line, plain
from agent.domain.usage import Usage

_MARGIN = r"^[ \t>*-]*"  # what squashing, quoting and listing put before a line
_TRAILER = re.compile(rf"{_MARGIN}Agent-(Step|Earlier|Outcome|Model|Tokens|Cost): (.*?)[ \t\r]*$", re.MULTILINE)
# Whatever `_TRAILER` reads, and what else git or a forge takes for a statement about the commit.
_STATEMENT = re.compile(
    rf"{_MARGIN}(?:Agent(?:ctl)?-[a-z]+|Signed-off-by|Co-authored-by|Reviewed-by|Acked-by|Tested-by|Change-Id|skip-checks)[ \t]*:.*$",
    re.MULTILINE | re.IGNORECASE,
)
# What git takes for a comment, or, in a message sent by mail, for the patch.
_PATCH = re.compile(r"#|---|diff -|Index: |>?From ")
# By which forges start no CI for a push (GitHub, GitLab, Azure, AppVeyor, …): that is a person's to say.
_NO_CI = re.compile(
    r"\[[ \t]*((?:skip|no)[ -]*(?:ci|actions|azp|azurepipelines|appveyor|travis|circle|netlify)|(?:ci|actions|azp|appveyor|travis)[ -]*skip)[ \t]*\]"
    r"|\*\*\*(no_ci)\*\*\*",
    re.IGNORECASE,
)
_TOKENS = re.compile(r"(\d{1,15}) in, (\d{1,15}) cached, (\d{1,15}) out")
_COST = re.compile(r"(?:(\d{1,12}\.\d{1,12})|unknown) USD")
_REVERT_LINE = re.compile(r"^\s*(?:This reverts commit .*|reversing\s+changes made to .*|Revert \".*\")$", re.MULTILINE)
_SUBJECT = 72


def step_message(step: StepId, note: Note, outcome: Outcome) -> str:
    """Subject, first paragraph, trailers. Trailers that the model wrote are left out: only ours count; nor does it turn off CI."""
    subject = _cut(f"{step.name}: {one_line(note.title, len(note.title))}")
    parts = [_NO_CI.sub(r"(\1\2)", part) for part in (subject, _wrapped(without_trailers(plain(first_paragraph(note.text)))))]
    return "\n\n".join(part for part in (*parts, _trailers(step, note, outcome)) if part) + "\n"


def without_trailers(text: str) -> str:
    """`text` without the lines that would pass for trailers: nothing that others write may tell of a step."""
    return "\n".join(line for line in text.split("\n") if not _STATEMENT.match(line)).strip()


def trailers_of(message: str) -> str:
    """The trailers of a `step_message`, as they stand there."""
    return message.rstrip().rpartition("\n\n")[2]


def _wrapped(text: str) -> str:
    """`text` in lines of 80 columns; one that only the wrapping makes look like a trailer is marked, one like a comment moved in."""
    lines = [line for block in text.split("\n") for line in (wrap(block, 80, break_long_words=False, break_on_hyphens=False) or [""])]
    lines = [f"| {line}" if _STATEMENT.match(line) else line for line in lines]
    return "\n".join(f" {line}" if _PATCH.match(line) else line for line in lines)


def _cut(subject: str) -> str:
    return subject if len(subject) <= _SUBJECT else subject[: _SUBJECT - 1].rstrip() + "…"


def _trailers(step: StepId, note: Note, outcome: Outcome) -> str:
    lines = [f"Agent-Step: {step}", f"Agent-Outcome: {outcome}"]
    if note.model:
        lines.append(f"Agent-Model: {note.model}")
    for session, spent in note.sessions.items():
        lines += [f"Agent-Earlier: {session}"] if session else []
        lines += [f"Agent-Tokens: {spent.input} in, {spent.cached} cached, {spent.output} out", f"Agent-Cost: {usd_text(spent)} USD"]
    return "\n".join(lines)


def usd_text(spent: Usage) -> str:
    """Money with four digits, `unknown` where the price is."""
    return "unknown" if spent.usd is None else f"{spent.usd:.4f}"


class Told(Struct, frozen=True):
    """What a message's trailers say of one step; `usage` is None where they tell no tokens.

    One that another went on from has no outcome there: nothing but its usage is told, and `within` which step it came to be part of.
    """

    step: StepId
    outcome: Outcome | None = None
    model: str = ""
    usage: Usage | None = None
    within: StepId | None = None


def told_in(message: str) -> tuple[Told, ...]:
    """The steps whose trailers stand anywhere in `message`: a step's own and those that it went on from, and all of a squash."""
    found: dict[StepId, Told] = {}
    current: StepId | None = None
    whole: StepId | None = None
    for key, value in _TRAILER.findall(message):
        if key == "Step":
            current = whole = StepId.parse(value)
            if current is not None:
                found.setdefault(current, Told(current))
        elif current is None:
            continue
        elif key == "Earlier":
            model, current = found[current].model, StepId.parse(value)
            if current is not None:
                found.setdefault(current, Told(current, model=model, within=whole))
        else:
            found[current] = _with(found[current], key, value)
    return tuple(found.values())


def _with(told: Told, key: str, value: str) -> Told:
    if key == "Outcome" and value in set(Outcome):
        return replace(told, outcome=Outcome(value))
    if key == "Model":
        return replace(told, model=value)
    usage = told.usage or Usage()
    if key == "Tokens" and (match := _TOKENS.fullmatch(value)):
        return replace(told, usage=replace(usage, input=int(match[1]), cached=int(match[2]), output=int(match[3])))
    if key == "Cost" and (match := _COST.fullmatch(value)):
        return replace(told, usage=replace(usage, usd=float(match[1]) if match[1] else None))
    return told


def steps_in(message: str) -> tuple[StepId, ...]:
    """The ids of all steps whose own trailer stands anywhere in `message`."""
    ids = (StepId.parse(value) for key, value in _TRAILER.findall(message) if key == "Step")
    return tuple(dict.fromkeys(step for step in ids if step))


def reason_of(message: str) -> str:
    """Why a revert was made: its message without what git writes by itself; the subject where nothing else is there."""
    subject, _, body = message.strip().partition("\n")
    return without_trailers(_REVERT_LINE.sub("", body)) or subject.strip()
