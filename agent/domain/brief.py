"""What a fresh session reads: built from one commit and one item, within a budget of tokens, and from nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from agent.domain.memory import Commit, History, Memory, Record
from agent.domain.message import reason_of
from agent.domain.names import NoteName, Outcome
from agent.domain.note import Note
from agent.domain.text import plain
from agent.domain.todo import Item, Standing, State, in_order, next_item

Count = Callable[[str], int]
_SHORT_ID = 10  # git's own abbreviation depends on the clone
_ROOM_FOR_CUT = 40  # tokens for the line that says what was cut


class Part(Struct, frozen=True):
    """One part of the brief; `cut` says whether something was left out of it."""

    name: str
    text: str
    tokens: int
    cut: bool = False


class Brief(Struct, frozen=True):
    """The parts in the order in which they are read: stable ones first, so that a provider's prompt cache hits."""

    parts: tuple[Part, ...]

    @property
    def system(self) -> str:
        """How to work."""
        return self.parts[0].text

    @property
    def task(self) -> str:
        """Everything but how to work."""
        return "\n\n".join(part.text for part in self.parts[1:])

    @property
    def text(self) -> str:
        """All of it, as `agentctl context` prints it."""
        return "\n\n".join(part.text for part in self.parts) + "\n"

    @property
    def tokens(self) -> int:
        """The sum of its parts."""
        return sum(part.tokens for part in self.parts)


class Sources(Struct, frozen=True):
    """All that a brief is made of. `notes` holds the letter's, the merged ones' and this item's notes; `item` None: a plan.

    `resumed` tells of an earlier session at the item that was interrupted; "" where none was.
    """

    system: str
    memory: Memory
    history: History
    item: Item | None
    notes: Mapping[NoteName, Note]
    letter: NoteName | None = None
    resumed: str = ""


class _Draft(Struct, frozen=True):
    """A part before it is cut: `blocks` from the one to drop first to the one to keep longest; `beyond` older ones were never read."""

    name: str
    heading: str
    blocks: tuple[str, ...]
    share: float
    rest: str
    newest_first: bool = False
    beyond: int = 0


# Which part gets its tokens first, up to its share; what all leave goes to those that were cut, in the same order.
_PRIORITY = ("item", "resumed", "attempts", "letter", "since", "goal", "plan", "lessons", "instructions")


_POSES = re.compile(
    r"^(?=[ \t]*#[ \t]+(?:An interrupted session|Instructions of this repository|Goal|Lessons|The list|Earlier attempts at this item|The last letter"
    r"|What people changed since then|Your item|Your task)\b)",
    re.IGNORECASE | re.MULTILINE,
)


def compose(sources: Sources, budget: int, count: Count) -> Brief:
    """The brief within `budget` tokens (as `count` counts them; how to work is kept whole). A pure function of its arguments.

    All of it is `plain`: what nobody sees would be an instruction that no reader of the repository could find. And no text that it quotes can
    begin a part of its own: a line that reads as the heading of one gets a backslash before it.
    """
    drafts = [draft for draft in _drafts(sources) if draft.blocks]
    drafts = [replace(draft, blocks=tuple(_POSES.sub(r"\\", plain(block)) for block in draft.blocks)) for draft in drafts]
    left = max(0, budget - count(sources.system))
    fitted: dict[str, Part] = {}
    for draft in sorted(drafts, key=lambda draft: _PRIORITY.index(draft.name)):
        part = _fit(draft, min(left, int(budget * draft.share)), count)
        left = max(0, left - part.tokens)
        fitted[draft.name] = part
    for draft in sorted(drafts, key=lambda draft: _PRIORITY.index(draft.name)):
        part = fitted[draft.name]
        if part.cut and left > 0:
            fitted[draft.name] = _fit(draft, part.tokens + left, count)
            left = max(0, left + part.tokens - fitted[draft.name].tokens)
    system = Part("system", sources.system.strip(), count(sources.system))
    return Brief((system, *(fitted[draft.name] for draft in drafts)))


def _drafts(sources: Sources) -> list[_Draft]:
    memory = sources.memory
    return [
        _Draft("resumed", "# An interrupted session", (sources.resumed,) if sources.resumed else (), 0.3, "git diff HEAD"),
        _Draft("instructions", "# Instructions of this repository", _guides(memory), 0.3, "read the files named above"),
        _Draft("goal", "# Goal", (memory.goal,) if memory.goal else (), 0.25, "read .agent/goal.md"),
        _Draft("lessons", "# Lessons", tuple(_lesson_block(title, text) for title, text in _lessons(memory)), 0.15, "read .agent/lessons/"),
        _Draft("plan", "# The list", (_plan(memory, sources.history),), 0.15, "list .agent/todo/"),
        _Draft("attempts", "# Earlier attempts at this item", _attempts(sources), 0.4, "agentctl log --item ITEM, or .agent/notes/"),
        _Draft("letter", "# The last letter", _letters(sources), 0.35, "read the notes named above in .agent/notes/"),
        _Draft(
            "since", "# What people changed since then", _since(sources.history), 0.2, "git log", newest_first=True, beyond=sources.history.unread
        ),
        _Draft("item", "# Your item" if sources.item else "# Your task", _task(sources), 0.5, "read the item's file in .agent/todo/"),
    ]


def _fit(draft: _Draft, room: int, count: Count) -> Part:
    """The draft within `room` tokens: oldest blocks go first, then the last one is cut at a line; the cut is said."""
    whole = _join(draft.heading, _shown(draft, draft.blocks), _older(draft.beyond, draft))
    if (tokens := count(whole)) <= room:
        return Part(draft.name, whole, tokens)
    dropped = 0
    kept = list(draft.blocks)
    sizes = [count(block) for block in kept]
    free = room - count(draft.heading) - _ROOM_FOR_CUT
    while len(kept) > 1 and sum(sizes[dropped:]) > free:
        kept.pop(0)
        dropped += 1
    if sizes[dropped] > free:
        kept = [_head_of(kept[0], max(0, free), count)]
        said = f"[cut here{f', and {dropped + draft.beyond} older left out' if dropped + draft.beyond else ''}; the rest: {draft.rest}]"
    else:
        said = _older(dropped + draft.beyond, draft)
    text = _join(draft.heading, _shown(draft, kept), said)
    return Part(draft.name, text, count(text), cut=True)


def _older(number: int, draft: _Draft) -> str:
    return f"[{number} older left out; the rest: {draft.rest}]" if number else ""


def _shown(draft: _Draft, blocks: Sequence[str]) -> list[str]:
    return list(reversed(blocks)) if draft.newest_first else list(blocks)


def _join(heading: str, blocks: Sequence[str], said: str) -> str:
    return "\n\n".join(text for text in (heading, *blocks, said) if text)


def _head_of(text: str, room: int, count: Count) -> str:
    """As many whole lines of `text` as fit; where they leave half of `room` free, the beginning of the long line that comes next too."""
    if room <= 0:
        return ""
    lines = text.split("\n")
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        if count("\n".join(lines[:middle])) <= room:
            low = middle
        else:
            high = middle - 1
    fitting = "\n".join(lines[:low])
    left = room - count(fitting)
    if low == len(lines) or left < room // 2:
        return fitting
    begun = lines[low][: left * 2]
    while count(begun) > left:
        begun = begun[: len(begun) // 2]
    return "\n".join([*lines[:low], begun])


def _guides(memory: Memory) -> tuple[str, ...]:
    """Last in the list is the one to keep longest: the nearest to the work."""
    return tuple(f"## {path}\n\n{text}" for path, text in memory.guides)


def _lessons(memory: Memory) -> list[tuple[str, str]]:
    return [(lesson.title, lesson.text) for lesson in memory.lessons]


def _lesson_block(title: str, text: str) -> str:
    told = " ".join(text.split())
    return f"- {title}" + (f": {told}" if told else "")


def _plan(memory: Memory, history: History) -> str:
    """Numbers, what is blocked, and the next few: the same size whatever the list's length."""
    standing = memory.standings
    ordered = in_order(memory.items, history.arrival)
    states = [standing.get(item.id, Standing()).state for item in ordered]
    numbers = ", ".join(f"{states.count(state)} {state}" for state in State if states.count(state))
    lines = [f"{len(ordered)} items: {numbers}." if ordered else "The list is empty."]
    following = next_item(ordered, standing)
    still = [item for item, state in zip(ordered, states, strict=True) if state is State.OPEN]
    lines += [f"- {'next' if item == following else 'open'}: {item.id} · {item.title}" for item in still[:8]]
    if len(still) > 8:  # noqa: PLR2004 - a reader wants the neighbours, not the list
        lines.append(f"- and {len(still) - 8} more open: list .agent/todo/")
    stuck = [item for item, state in zip(ordered, states, strict=True) if state is State.BLOCKED]
    lines += [f"- blocked: {item.id} · {item.title}" for item in stuck[:4]]
    if len(stuck) > 4:  # noqa: PLR2004 - what is stuck is a person's concern
        lines.append(f"- and {len(stuck) - 4} more blocked: their notes end in .blocked.md")
    return "\n".join(lines)


_TOLD = {
    Outcome.DONE: "landed",
    Outcome.FAILED: "failed its gate",
    Outcome.BLOCKED: "blocked",
    Outcome.REOPENED: "opened again by a person",
    Outcome.DROPPED: "dropped by a person",
}


def _attempts(sources: Sources) -> tuple[str, ...]:
    if sources.item is None:
        return ()
    mine = [record for record in sources.history.records if record.name.item == sources.item.id]
    return tuple(_attempt(record, sources.notes.get(record.name)) for record in mine if record.name.outcome in _TOLD)


def _attempt(record: Record, note: Note | None) -> str:
    step = record.name.step
    told = _TOLD[record.name.outcome] if note is None or note.spent is not None or record.name.outcome is not Outcome.DONE else "done by hand"
    lines = [f"## {step.at:%Y-%m-%d %H:%M} UTC: {told}" + (", then undone" if record.undone else "")]
    if record.undone:
        lines.append(_undoing(record.undone_by))
    if note is not None:
        lines.append(note.text)
        if note.letter:
            lines.append(f"Its letter: {note.letter}")
    return "\n\n".join(line for line in lines if line)


def _undoing(commit: Commit | None) -> str:
    if commit is None:
        return "Its note is gone from the tree; no commit says why."
    return f"Undone by {commit.author} in {commit.id[:_SHORT_ID]} ({commit.when[:10]}). Why: {reason_of(commit.message)}"


def _letters(sources: Sources) -> tuple[str, ...]:
    names = [name for name in sources.history.merged if name in sources.notes and sources.notes[name].letter]
    blocks = [f"## From {_origin(name, sources.notes[name])}, arrived by a merge\n\n{sources.notes[name].letter}" for name in names]
    if sources.letter is not None and sources.letter in sources.notes:
        note = sources.notes[sources.letter]
        blocks.append(f"## From {_origin(sources.letter, note)}\n\n{note.letter}")
    return tuple(blocks)


def _origin(name: NoteName, note: Note) -> str:
    who = f"the session at {name.item} ({name.outcome})"
    if name.outcome is Outcome.LETTER:
        who = "the session that made the plan" if note.spent else "a person"
    return f"{who}, {name.step.at:%Y-%m-%d %H:%M} UTC, .agent/{name.path}"


def _since(history: History) -> tuple[str, ...]:
    """One line a commit, oldest first (they are shown newest first)."""
    lines = tuple(_line(commit) for commit in reversed(history.since))
    return (*lines, _SHALLOW) if history.shallow else lines


_SHALLOW = "This clone is shallow: attempts, reverts and people's commits before its oldest commit are not told of here. `git fetch --unshallow` brings them."


def _line(commit: Commit) -> str:
    shown = [path for path in commit.files if path][:4]
    more = f" and {len(commit.files) - len(shown)} more" if len(commit.files) > len(shown) else ""
    files = f" ({', '.join(shown)}{more})" if shown else ""
    why = reason_of(commit.message)
    reason = f": {' '.join(why.split())}" if commit.subject.startswith("Revert ") and why != commit.subject else ""
    return f"- {commit.id[:_SHORT_ID]} {commit.author}: {commit.subject}{reason}{files}"


def _task(sources: Sources) -> tuple[str, ...]:
    item = sources.item
    if item is None:
        return ("Cut the goal into items. The list so far is above: add what is missing.",)
    checks = [*sources.memory.config.checks, *item.checks]
    lines = [f"## {item.title}", f"id: {item.id}", item.text]
    if checks:
        lines.append("It lands when these pass:\n" + "\n".join(f"- `{check}`" for check in checks))
    else:
        lines.append("There are no checks: say in the note how you made sure.")
    if item.allow:
        lines.append("Allowed for this item: " + ", ".join(item.allow))
    return ("\n\n".join(line for line in lines if line),)
