"""The conversation of one session: what was said, and what of it is sent while it still fits the model's window."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from agent.domain.chat import Message, Reply, ToolCall
from agent.domain.text import left_out, one_line

_SHORT = 400  # characters of tool output that aren't worth leaving out
_PER_MESSAGE = 6  # tokens of a message beside its text, as the chat-completions formats count them
_BEFORE = "\n\n# Earlier in this session\n\nThe turns before the ones below were left out to save room. In short:\n\n"
_LISTED = 40  # calls that a list of what was done names
_HEAD = 2  # the first messages, which always stay: how to work, and the task


class Conversation:
    """Begins with how to work and the task, and only grows, so that each request begins with the one before; but for what is left out when room is short.

    A turn is what the model said, with the answers to its calls and what it was told then; turns go or stay as a whole.
    """

    def __init__(self, system: str, task: str, count: Callable[[str], int]) -> None:
        self._count = count
        self._task = task
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

    def size(self, messages: Iterable[Message]) -> int:
        """An estimate of the tokens of any messages."""
        return sum(map(self._size, messages))

    def heard(self, reply: Reply, calls: tuple[ToolCall, ...]) -> None:
        """The model's turn, with those of its calls that will be answered."""
        self._add(Message("assistant", reply.text, calls))

    def answered(self, call: ToolCall, text: str) -> None:
        """A tool's answer to `call`."""
        self._add(Message("tool", text, call_id=call.id))

    def told(self, text: str) -> None:
        """Something that agentctl says to the model."""
        self._add(Message("user", text))

    def leave_out(self, room: int, target: int) -> None:
        """Leave out tool output before the last turns, oldest first, until the messages take at most `target` tokens. `room` is all there is."""
        for place in range(_HEAD, self._last_turns(room)):
            if self.tokens <= target:
                return
            message = self._messages[place]
            if message.role == "tool" and len(message.text) > _SHORT:
                said = f"{left_out(f'{len(message.text)} characters of output')} to save room: call the tool again if you need them."
                self._messages[place] = replace(message, text=said)
                self._sizes[place] = self._size(self._messages[place])

    def before_last_turns(self, room: int) -> tuple[Message, ...]:
        """What a request sends of all that comes before the last turns, where `room` tokens are all there is; nothing where only they are left."""
        last = self._last_turns(room)
        return tuple(self._messages[:last]) if last > _HEAD else ()

    def sum_up(self, room: int, paragraph: str) -> None:
        """Put `paragraph` in place of the turns before the last ones. It stands with the task: two messages of one role in a row confuse some models."""
        last = self._last_turns(room)
        kept, sizes = self._messages[last:], self._sizes[last:]
        del self._messages[1:], self._sizes[1:]
        self._add(Message("user", f"{self._task}{_BEFORE}{paragraph}"))
        self._messages += kept
        self._sizes += sizes

    def _last_turns(self, room: int) -> int:
        """Where the last turns begin: the last one, and as many before it as take half of what the first messages leave of `room`."""
        starts = [place for place, message in enumerate(self._messages) if place == _HEAD or (place > _HEAD and message.role == "assistant")]
        if not starts:
            return len(self._messages)
        share = (room - sum(self._sizes[:_HEAD])) // 2
        return next((start for start in starts if sum(self._sizes[start:]) <= share), starts[-1])

    def _add(self, message: Message) -> None:
        self._messages.append(message)
        self._sizes.append(self._size(message))

    def _size(self, message: Message) -> int:
        calls = "".join(f"{call.name}{call.args}" for call in message.calls)
        return self._count(message.text + calls) + _PER_MESSAGE * (1 + len(message.calls))


def listed(messages: tuple[Message, ...]) -> str:
    """What was done in `messages`, a call a line, the last ones only: what stands where the model gave no paragraph."""
    calls = [f"- {one_line(f'{call.name} {call.args}', 120)}" for message in messages for call in message.calls]
    more = [f"- {left_out(f'{len(calls) - _LISTED} earlier calls')}"] if len(calls) > _LISTED else []
    before = [message.text.partition(_BEFORE)[2] for message in messages[:_HEAD] if _BEFORE in message.text]
    return "\n".join([*before, *more, *calls[-_LISTED:]])
