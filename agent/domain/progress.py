"""What a session that isn't over has done so far: kept beside its work, so that another can go on in its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from msgspec import convert, field, to_builtins
from msgspec.structs import replace

from agent.domain.shape import Count, Stored, parsed
from agent.domain.text import one_line
from agent.domain.usage import NOTHING, Usage, summed

_DEEDS = 40  # as many as a reader wants, and a brief has room for
_LONGEST = 300  # characters of one of them


class Remembered(Stored, frozen=True):
    """A lesson that the worker wants kept."""

    title: str
    text: str


class Proposed(Stored, frozen=True):
    """A follow-up item that the worker wants added; `check` is a command or empty."""

    title: str
    text: str
    check: str = ""


class Progress(Stored, frozen=True):
    """What one session, with those that it went on from, has done: model calls and their usage, what it wants kept, and one line for each deed."""

    calls: Count = 0
    usage: Usage = NOTHING
    lessons: tuple[Remembered, ...] = ()
    proposals: tuple[Proposed, ...] = ()
    deeds: tuple[str, ...] = ()
    said: str = ""


UNBEGUN = Progress()


class Unfinished(Stored, frozen=True):
    """A step that was broken off. `made` are the files that commands made, `over` those of the person that a tool wrote over: path and blob.

    `carried` is what of the progress' usage the sessions before it had used, by their steps.
    """

    step: str
    item: str
    progress: Progress = UNBEGUN
    made: tuple[str, ...] = ()
    over: Mapping[str, str] = field(default_factory=dict)
    carried: Mapping[str, Usage] = field(default_factory=dict)

    @property
    def sessions(self) -> dict[str, Usage]:
        """The progress' usage taken apart, by step: this one's own is the last."""
        return {**self.carried, self.step: self.progress.usage.without(summed(self.carried.values()))}


def with_deed(deeds: tuple[str, ...], deed: str) -> tuple[str, ...]:
    """`deeds` with one more, as one line; the oldest go when there are too many."""
    return (*deeds, one_line(deed, _LONGEST))[-_DEEDS:]


def scrubbed(progress: Progress, clean: Callable[[str], str]) -> Progress:
    """`progress` with each of its texts as `clean` gives it."""
    return replace(
        progress,
        lessons=tuple(Remembered(clean(one.title), clean(one.text)) for one in progress.lessons),
        proposals=tuple(Proposed(clean(one.title), clean(one.text), clean(one.check)) for one in progress.proposals),
        deeds=tuple(map(clean, progress.deeds)),
        said=clean(progress.said),
    )


def render_unfinished(unfinished: Unfinished) -> str:
    """The message of the commit that keeps the step's work: a subject, and all else as JSON."""
    return f"work in progress: {unfinished.step}\n\n{json.dumps(to_builtins(unfinished), indent=1)}\n"


def parse_unfinished(message: str) -> Unfinished | None:
    """The inverse of `render_unfinished`; None for any other message."""
    try:
        return convert(parsed(message.partition("\n\n")[2]), Unfinished)
    except ValueError:
        return None


def told_as_resumed(unfinished: Unfinished, changed: Mapping[str, str]) -> str:
    """What a session that goes on from there has to know; `changed` are the paths that differ, each with git's status letter."""
    progress = unfinished.progress
    blocks = [
        f"An earlier session at this item (step {unfinished.step}) was interrupted, so this one is resumed. "
        + ("What it had changed is in the files, uncommitted: look at it, and go on from there." if changed else "It had changed no file yet."),
    ]
    blocks += [_listed("Changed so far (A added, M modified, D deleted):", [f"{letter} {path}" for path, letter in changed.items()])]
    blocks += [_listed("What it did, oldest first:", progress.deeds)]
    blocks += [f"Its last words: {progress.said}"] if progress.said else []
    noted = [f"lesson: {one.title}" for one in progress.lessons] + [f"follow-up item: {one.title}" for one in progress.proposals]
    blocks += [_listed("It has noted these already, and they will be kept:", noted)]
    return "\n\n".join(block for block in blocks if block)


_SHOWN = 60  # lines


def _listed(heading: str, lines: list[str] | tuple[str, ...]) -> str:
    if not lines:
        return ""
    more = [f"- and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "\n".join([heading, *(f"- {one_line(line, _LONGEST)}" for line in lines[:_SHOWN]), *more])
