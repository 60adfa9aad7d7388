"""Making a conversation fit its room: old tool output first, then one paragraph in place of the oldest turns; never in a loop."""

from __future__ import annotations

from collections.abc import Callable

from agent.domain.chat import Message
from agent.domain.text import left_out, one_line
from agent.worker.conversation import Conversation, listed
from agent.worker.tools.base import Desk

ASK = (
    "The oldest turns of this conversation are about to be left out. Call no tool now; write one paragraph of at most 250 words instead, for yourself: "
    "what was done and found so far, which files matter and why, what was tried and failed, what remains to do."
)
"""What the model is asked for the paragraph."""

_TARGET, _ENOUGH = 0.5, 0.75  # of the room; what is left out comes in large strides, since each one costs the provider's cache of the prompt
_MOST = 6  # paragraphs in a session: an item that needs more is too large
_LONGEST = 4_000  # characters of a paragraph


class Compaction:
    """`ask` asks the model to follow the messages with the paragraph, within the session's limits; "" where it gave none."""

    def __init__(self, conversation: Conversation, desk: Desk, ask: Callable[[tuple[Message, ...]], str]) -> None:
        self._conversation = conversation
        self._desk = desk
        self._ask = ask
        self._paragraphs = 0

    def fit(self, room: int) -> bool:
        """Whether the messages take at most `room` tokens, made so where they didn't. The task, the notes taken and the last turns stay."""
        talk = self._conversation
        if talk.tokens <= room:
            return True
        talk.leave_out(room, int(room * _TARGET))
        if talk.tokens <= room * _ENOUGH:
            return True
        old = talk.before_last_turns(room)
        if old and self._paragraphs < _MOST:
            self._paragraphs += 1
            paragraph = self._ask((*old, Message("user", ASK))) or listed(old)
            talk.sum_up(room, "\n\n".join([_short(paragraph), *_notes(self._desk)]))
        return talk.tokens <= room


def _short(paragraph: str) -> str:
    half = _LONGEST // 2
    return paragraph if len(paragraph) <= _LONGEST else f"{paragraph[:half]}{left_out('the middle')}{paragraph[-half:]}"


def _notes(desk: Desk) -> list[str]:
    """What the session has noted, which its report brings whatever is left out here."""
    named = (("Lessons noted", desk.lessons), ("Items proposed", desk.proposals))
    return [f"{what}: {'; '.join(one_line(note.title, 100) for note in notes)}." for what, notes in named if notes]
