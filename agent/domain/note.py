"""What a step leaves behind: the note for the reviewer, and in its last section the letter to the next session."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct, field

from agent.domain.fingerprint import SHORT, keep_apart
from agent.domain.frontmatter import Head, dump, split
from agent.domain.names import StepId
from agent.domain.todo import tidy_text, tidy_title, title_and_text
from agent.domain.usage import Usage, summed

_HANDOFF = re.compile(r"^## Handoff[ \t]*$", re.MULTILINE)
_QUOTED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_OURS = re.compile(r"^(?:The step did not land:.*(?:\n- .*)*|This session's work did not land and was put back: .*)$", re.MULTILINE)


class Note(Struct, frozen=True):
    """One note. `checked` is one line a check; `sandbox` names what commands ran in where it is less than usual.

    `spent` is None where a person wrote it; `earlier` is what of it the sessions that the step went on from had used, by their steps.
    """

    title: str
    text: str
    letter: str = ""
    spent: Usage | None = None
    model: str = ""
    checked: tuple[str, ...] = ()
    sandbox: str = ""
    earlier: Mapping[StepId, Usage] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        title: str,
        text: str,
        letter: str = "",
        spent: Usage | None = None,
        model: str = "",
        checked: tuple[str, ...] = (),
        sandbox: str = "",
        earlier: Mapping[StepId, Usage] = MappingProxyType({}),
    ) -> Note:
        """A note whose texts are tidied so that `parse_note(render_note(note, id))` gives it back."""
        return cls(
            title=tidy_title(title) or "Untitled",
            text=_HANDOFF.sub("### Handoff", tidy_text(text)),
            letter=tidy_text(letter),
            spent=_rounded(spent) if spent else None,
            model=tidy_title(model),
            checked=tuple(tidy_title(line) for line in checked),
            sandbox=tidy_title(sandbox),
            earlier={step: _rounded(usage) for step, usage in earlier.items()},
        )

    @property
    def sessions(self) -> dict[StepId | None, Usage]:
        """`spent` taken apart: what the step's own session used, under None, and each of the `earlier` ones. Empty where nothing is told."""
        if self.spent is None:
            return {}
        own: dict[StepId | None, Usage] = {None: self.spent.without(summed(self.earlier.values()))}
        return own | dict(self.earlier)


def render_note(note: Note, step: StepId) -> str:
    """The note's file: LF, a final newline, and unlike every other note (see `keep_apart`)."""
    head = []
    if note.spent is not None:
        head.append(f"spent: {dump(_spent(note.spent))}")
    if note.earlier:
        head.append(f"earlier: {dump({str(one): _spent(usage) for one, usage in note.earlier.items()})}")
    if note.model:
        head.append(f"model: {dump(note.model)}")
    if note.checked:
        head.append(f"checked: {dump(list(note.checked))}")
    if note.sandbox:
        head.append(f"sandbox: {dump(note.sandbox)}")
    parts = [f"# {note.title}"]
    parts += [note.text] if note.text else []
    parts += ["## Handoff", note.letter] if note.letter else []
    body = "\n\n".join(parts) + "\n"
    return keep_apart(head, body, seed=str(step), repeats=_repeating(note, head))


def _repeating(note: Note, head: list[str]) -> int:
    """Bytes that another note may hold too: the frame, what the gate and its checks said, and texts too short to tell apart."""
    own = f"{note.text}\n{note.letter}"
    quoted = sum(len(block.encode()) for pattern in (_QUOTED, _OURS) for block in pattern.findall(own))
    told = len(own.encode()) - quoted
    frame = sum(len(line.encode()) + 1 for line in head) + len(note.title.encode()) + len("# \n\n## Handoff\n\n")
    return frame + quoted + (told if told < SHORT else 0)


def parse_note(text: str, path: str) -> Note:
    """The note in the file at `path`. Unknown keys and comments are left alone. Raises BadFileError."""
    document = split(text, path)
    title, rest = title_and_text(document.body)
    mark = _HANDOFF.search(rest)
    head = document.head
    return Note(
        title=title or "Untitled",
        text=(rest[: mark.start()] if mark else rest).strip("\r\n"),
        letter=rest[mark.end() :].strip("\r\n") if mark else "",
        spent=_read_spent(head.section("spent")) if "spent" in head.nodes else None,
        model=head.text("model") or "",
        checked=head.texts("checked"),
        sandbox=head.text("sandbox") or "",
        earlier=_read_earlier(head.section("earlier")) if "earlier" in head.nodes else {},
    )


def _spent(usage: Usage) -> dict[str, float | int | None]:
    return {"usd": usage.usd, "input": usage.input, "cached": usage.cached, "output": usage.output, "seconds": round(usage.seconds)}


def _rounded(usage: Usage) -> Usage:
    usd = None if usage.usd is None else round(usage.usd, 6)
    return Usage(usd, usage.input, usage.cached, usage.output, round(usage.seconds))


def _read_spent(head: Head) -> Usage:
    numbers = {key: head.number(key) for key in ("usd", "input", "cached", "output", "seconds")}
    for key, number in numbers.items():
        if number is not None and number < 0:
            raise head.bad(key, f"{key} wants a number of 0 or more", f"write {key}: 0")
    tokens = [int(numbers[key] or 0) for key in ("input", "cached", "output")]
    return Usage(numbers["usd"] if "usd" in head.nodes else 0.0, tokens[0], tokens[1], tokens[2], numbers["seconds"] or 0)


def _read_earlier(head: Head) -> dict[StepId, Usage]:
    steps = ((StepId.parse(key), key) for key in head.nodes)
    return {step: _read_spent(head.section(key)) for step, key in steps if step}


def mentions(text: str, path: str) -> bool:
    """Whether `path` stands in `text` as a word of its own."""
    return re.search(rf"(?<![\w./-]){re.escape(path)}(?![\w/-]|\.\w)", text) is not None


def first_paragraph(text: str) -> str:
    """The first paragraph of a note's text, for the commit's message."""
    return text.strip("\n").split("\n\n", 1)[0].strip()
