"""The built-in worker: a plain loop of model call and tool calls until it finishes, asks, gives up or meets a limit."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from agent.domain.brief import Brief
from agent.domain.chat import Message, Reply, Request, ToolCall
from agent.domain.events import Asking, Called, Listener, Said, ToolBegan, ToolEnded
from agent.domain.progress import UNBEGUN, Progress, with_deed
from agent.domain.text import one_line
from agent.domain.usage import Usage
from agent.model.client import LONGEST_CALL
from agent.model.errors import Kind, ModelError, Reason
from agent.model.protocol import Model
from agent.worker.circles import Move, circle
from agent.worker.compaction import Compaction
from agent.worker.conversation import Conversation
from agent.worker.gauge import Gauge
from agent.worker.protocol import Ending, Report
from agent.worker.tools.base import LONGEST_TOOL, Desk, Result, Tool, perform, prepare

_MOST_REPLY = 16_000  # tokens; what a reply may be, within what the model can
_MARGIN = 1.05  # how much too low the estimate of a request may be
_PARAGRAPH = 1_000  # tokens; what the model may write in place of the oldest turns
_SHRINK = 0.75  # of a request that the provider called too long: what the next one may be
_LAST_WORDS = 600  # characters that a session which goes on from here reads
_PATIENCE = 3  # useless replies in a row before the session ends

_NO_TOOL = "You called no tool. Go on with the tools; when the work is done and tested, call `finish`; if only a person can decide, call `ask`."
_CUT_OFF = (
    "Your reply was cut off at its length limit, so none of its calls was run. Make smaller calls: several short edits in place of one long write."
)
_NOTHING_SAID = "(cut off)"  # providers refuse a turn without a word in it
_NOT_RUN = "Not run: the session had ended with the call before this one."
_ROUND = "You are going round in circles: {}. Think again about what stands in the way and try something else; if only a person can help, call `ask`."
_NO_ROOM = "The conversation no longer fits the model's window. Split the item: each part must be readable and testable on its own."


class Allowance(Struct, frozen=True):
    """What a session may use. `usd` counts only where the model's price is known; `seconds` of the session's clock.

    `deadline` is a moment of `time.monotonic`, which goes on while a provider is waited for.
    """

    calls: int
    usd: float
    seconds: float
    deadline: float = math.inf


class Loop:
    """A session of the built-in worker (see `agent.worker.protocol.Session`).

    `before` is called before each tool that may change anything, `checkpoint` after each that may change the tree (it says whether it did),
    `noted` when a session has noted something else. `progress` is that of a session that this one goes on from: what it used counts
    against the allowance.
    """

    def __init__(
        self,
        model: Model,
        brief: Brief,
        tools: Mapping[str, Tool],
        desk: Desk,
        allowance: Allowance,
        *,
        count: Callable[[str], int],
        before: Callable[[str], None],
        checkpoint: Callable[[Progress], bool],
        noted: Callable[[Progress], None],
        listen: Listener,
        progress: Progress = UNBEGUN,
        clock: Callable[[], float] = time.monotonic,
        changing: frozenset[str] = frozenset({"edit", "write", "run"}),
        unbounded: frozenset[str] = frozenset({"run"}),
    ) -> None:
        self._model = model
        self._tools = tools
        self._desk = desk
        self._allowance = allowance
        self._before = before
        self._checkpoint = checkpoint
        self._noted = noted
        self._listen = listen
        self._changing = changing
        self._unbounded = unbounded
        self._conversation = Conversation(brief.system, brief.task, count)
        self._compaction = Compaction(self._conversation, desk, self._paragraph)
        self._specs = tuple(tool.spec for tool in tools.values())
        self._fixed = count(json.dumps([[spec.name, spec.description, dict(spec.parameters)] for spec in self._specs]))
        self._spent = progress.usage
        self._calls = progress.calls
        self._deeds = progress.deeds
        self._said = progress.said
        self._useless = 0
        self._gauge = Gauge()
        self._ceiling = math.inf
        self._refused = 0
        self._last_words = ""
        self._moves: list[Move] = []
        self._warned = False
        self._clock = clock
        self._began = clock()

    def work(self, feedback: str | None) -> Report:
        """Work until the session ends or says it is finished. Raises ModelError where the model can't go on for now."""
        self._reopen(feedback)
        while True:
            if round_and_round := self._circling():
                return self._report(Ending.GAVE_UP, f"The worker went round in circles, and went on after it was told: {round_and_round}.")
            stop = self._over()
            if stop:
                return replace(self._report(Ending.LIMIT, stop[1]), limit=stop[0])
            reply = self._ask()
            if reply is not None:
                self._act(reply)
            if self._desk.ending is not None:
                return self._report(self._desk.ending, self._desk.note, self._desk.letter)
            if self._useless >= _PATIENCE:
                said = f" The last one: {one_line(self._last_words, 300)}" if self._last_words else ""
                return self._report(Ending.GAVE_UP, f"The worker stopped working: {_PATIENCE} replies in a row led nowhere.{said}")

    def _reopen(self, feedback: str | None) -> None:
        self._desk.ending = None
        if feedback is not None:
            self._conversation.told(feedback)
            self._deeds = with_deed(self._deeds, f"it handed in its work, and agentctl refused that: {feedback}")
            self._noted(self.progress)
            self._moves.append(Move("the gate", feedback, change=False))

    @property
    def progress(self) -> Progress:
        """What the session has done so far."""
        return Progress(self._calls, self._spent, tuple(self._desk.lessons), tuple(self._desk.proposals), self._deeds, self._said)

    def _circling(self) -> str:
        """What goes round, where the model was told so before; the first time it is told."""
        found = circle(self._moves)
        if found and not self._warned:
            self._warned = True
            self._moves.clear()
            self._conversation.told(_ROUND.format(found))
            return ""
        return found

    def _over(self) -> tuple[str, str] | None:
        """Which limit stands against a further call, and the sentence; None where it may be made. Money is checked with that call's worst case."""
        allowance = self._allowance
        if self._calls >= allowance.calls:
            return "calls", f"The step used all {allowance.calls} model calls that it may make (limits.calls)."
        if self._clock() - self._began >= allowance.seconds:
            return "minutes", f"The step took longer than the {allowance.seconds / 60:g} minutes that it may (limits.minutes)."
        if time.monotonic() >= allowance.deadline:
            return "deadline", "The time of the run was over."
        if self._refused > 1 or not self._compaction.fit(self._room()):
            return "window", _NO_ROOM
        if self._too_dear(self._sent(), self._reply_tokens()):
            spent = f"{self._spent.usd or 0.0:.4f} USD"
            return "usd", f"The step spent {spent}, and one more call could pass the {allowance.usd:g} USD that it may cost (limits.usd)."
        return None

    def _room(self) -> int:
        """What the messages may be, in tokens as we count them."""
        whole = (self._model.limits.window - self._reply_tokens()) / _MARGIN
        return int(min(self._gauge.room(whole), self._ceiling)) - self._fixed

    def _reply_tokens(self) -> int:
        limits = self._model.limits
        return min(_MOST_REPLY, limits.max_output, max(1, limits.window // 2))

    def _too_dear(self, sent: int, reply: int) -> bool:
        """Whether a call could cost more than is left: of `sent` tokens as we count them, with a reply of `reply` tokens."""
        price = self._model.price
        return price is not None and (self._spent.usd or 0.0) + price.at_most(self._most(sent), reply) > self._allowance.usd

    def _most(self, sent: int) -> int:
        """What the provider may count at most where we count `sent` tokens."""
        return math.ceil(self._gauge.tokens(sent) * _MARGIN)

    def _sent(self) -> int:
        return self._conversation.tokens + self._fixed

    def _ask(self) -> Reply | None:
        """One model call; None where the reply was no use and the model was told so. Whatever it cost is charged."""
        self._calls += 1
        sent = self._sent()
        self._listen(Asking(self._calls, LONGEST_CALL))
        try:
            reply = self._model.complete(Request(self._conversation.messages, self._specs, self._reply_tokens(), self._most(sent)))
        except ModelError as error:
            self._pay(error.spent)
            self._mend(error, sent)
            return None
        self._pay(reply.usage)
        self._gauge = self._gauge.learned(sent, reply.usage.input)
        self._refused = 0
        return reply

    def _paragraph(self, messages: tuple[Message, ...]) -> str:
        """What the model writes in place of the oldest turns: one call, charged like any other; "" where a limit forbids it or nothing whole comes back."""
        sent = self._fixed + self._conversation.size(messages)
        if self._calls + 1 >= self._allowance.calls or sent > self._room() + self._fixed or self._too_dear(sent, _PARAGRAPH):
            return ""
        self._calls += 1
        self._listen(Asking(self._calls, LONGEST_CALL))
        try:
            reply = self._model.complete(Request(messages, self._specs, min(_PARAGRAPH, self._reply_tokens()), self._most(sent)))
        except ModelError as error:
            self._pay(error.spent)
            if error.kind is not Kind.MEND:
                raise
            return ""
        self._pay(reply.usage)
        return "" if reply.finish == "length" else reply.text.strip()

    def _mend(self, error: ModelError, sent: int) -> None:
        """Do what helps against `error`, so that the next call may succeed; raise it where nothing of ours does."""
        if error.kind is not Kind.MEND:
            raise error
        if error.reason is Reason.TOO_LONG:
            self._refused += 1
            self._ceiling = sent * _SHRINK
            return
        self._useless += 1
        if error.reason is Reason.REJECTED and self._useless >= _PATIENCE:
            raise error
        self._last_words = error.message
        self._conversation.told(f"That reply could not be used: {error.message}")

    def _pay(self, usage: Usage) -> None:
        self._spent = self._spent + usage
        self._listen(Called(self._calls, usage, self._spent))

    def _act(self, reply: Reply) -> None:
        self._last_words = reply.text.strip()
        if self._last_words:
            self._listen(Said(reply.text))
            self._said = one_line(reply.text, _LAST_WORDS)
        if reply.finish == "length":
            self._conversation.heard(replace(reply, text=self._last_words or _NOTHING_SAID), ())
            self._conversation.told(_CUT_OFF)
            self._useless += 1
            return
        self._conversation.heard(reply, reply.calls)
        if not reply.calls:
            self._conversation.told(_NO_TOOL)
            self._useless += 1
            return
        useful = [self._perform(call) for call in reply.calls]
        self._useless = 0 if any(useful) else self._useless + 1

    def _perform(self, call: ToolCall) -> bool:
        """Run one call and answer it; whether it was a call that could be run."""
        if self._desk.ending is not None:
            self._conversation.answered(call, _NOT_RUN)
            return True
        ready = prepare(self._tools, call)
        if isinstance(ready, Result):
            self._listen(ToolEnded(call.name, ok=False, result=ready.shown, seconds=0.0))
            self._conversation.answered(call, ready.text)
            self._moves.append(Move(f"{call.name} {call.args}", ready.text, change=False))
            return False
        self._listen(ToolBegan(call.name, ready.tool.brief(ready.args), LONGEST_TOOL))
        doing = f"{call.name} {ready.tool.brief(ready.args)}".strip()
        if call.name in self._unbounded:
            self._before(doing)
        before = self._noted_so_far()
        began = time.monotonic()
        result = perform(ready, self._desk)
        self._listen(ToolEnded(call.name, ok=result.ok, result=result.shown, seconds=time.monotonic() - began))
        self._conversation.answered(call, result.text)
        noted = self._noted_so_far() != before
        change = noted
        if call.name in self._changing:
            self._deeds = with_deed(self._deeds, f"{doing}: {result.shown}")
            change = self._checkpoint(self.progress)
        elif noted:
            self._noted(self.progress)
        self._moves.append(Move(f"{call.name} {call.args}", result.text, change))
        return True

    def _noted_so_far(self) -> tuple[object, ...]:
        return (*self._desk.lessons, *self._desk.proposals)

    def _report(self, ending: Ending, note: str, letter: str = "") -> Report:
        return Report(
            ending=ending,
            note=note,
            letter=letter,
            lessons=tuple(self._desk.lessons),
            proposals=tuple(self._desk.proposals),
            usage=self._spent,
        )
