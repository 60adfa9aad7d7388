"""The conversation of one session: what was said, and what of it still fits the model's window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agent.domain.chat import Message, Reply, ToolCall
from agent.domain.text import left_out

_RECENT = 6  # turns at the end that always stay whole
_SHORT = 400  # characters of tool output that aren't worth leaving out
_PER_MESSAGE = 6  # tokens of a message beside its text, as the chat-completions formats count them


class Conversation:
    """Begins with how to work and the brief; only grows, but for old tool output that is left out when room is short."""

    def __init__(self, system: str, task: str, count: Callable[[str], int]) -> None:
        self._count = count
        self._messages: list[Message] = []
        self._sizes: list[int] = []
        self._add(Message("system", system))
        self._add(Message("user", task))

    @property
    def messages(self) -> tuple[Message, ...]:
        """What the next request sends."""
        return tuple(self._messages)

    @property
    def tokens(self) -> int:
        """An estimate of the messages' tokens."""
        return sum(self._sizes)

    def heard(self, reply: Reply, calls: tuple[ToolCall, ...]) -> None:
        """The model's turn, with those of its calls that will be answered."""
        self._add(Message("assistant", reply.text, calls))

    def answered(self, call: ToolCall, text: str) -> None:
        """A tool's answer to `call`."""
        self._add(Message("tool", text, call_id=call.id))

    def told(self, text: str) -> None:
        """Something that agentctl says to the model."""
        self._add(Message("user", text))

    def fit(self, room: int) -> bool:
        """Leave out old tool output, oldest first, until the messages take at most `room` tokens; False where they still don't."""
        for place in range(2, max(2, len(self._messages) - _RECENT)):
            if self.tokens <= room:
                return True
            message = self._messages[place]
            if message.role == "tool" and len(message.text) > _SHORT:
                said = f"{left_out(f'{len(message.text)} characters of output')} to save room: call the tool again if you need them."
                self._messages[place] = replace(message, text=said)
                self._sizes[place] = self._size(self._messages[place])
        return self.tokens <= room

    def _add(self, message: Message) -> None:
        self._messages.append(message)
        self._sizes.append(self._size(message))

    def _size(self, message: Message) -> int:
        calls = "".join(f"{call.name}{call.args}" for call in message.calls)
        return self._count(message.text + calls) + _PER_MESSAGE * (1 + len(message.calls))
