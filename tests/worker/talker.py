"""A provider within the test: it counts with a tokenizer of its own, refuses what is too long, and says what the test's function says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec.structs import replace

from agent.domain.brief import Brief, Part
from agent.domain.chat import Reply, Request, ToolCall
from agent.domain.events import Listener, ignore
from agent.domain.price import Price
from agent.domain.usage import NOTHING, Usage
from agent.model.errors import Facts, Origin, error_for
from agent.model.protocol import Closing, Limits
from agent.model.tokens import count
from agent.worker.loop import Allowance, Loop
from agent.worker.tools import STEP_TOOLS, Desk


def says(*calls: tuple[str, str], text: str = "", finish: str = "tool_calls") -> Reply:
    """A reply with calls of (tool, arguments as JSON)."""
    return Reply(text, tuple(ToolCall(f"c{place}", name, args) for place, (name, args) in enumerate(calls)), NOTHING, finish)


@dataclass
class Talker(Closing):
    """Gives `answer(n)` to the nth request. `true_window` is what the provider really takes, in its own tokens."""

    answer: Callable[[int], Reply]
    window: int = 32_000
    true_window: int = 10**9
    name: str = "talker/x"
    price: Price | None = None
    requests: list[Request] = field(default_factory=list)

    @property
    def limits(self) -> Limits:
        return Limits(self.window, 2_000)

    def check(self) -> None: ...

    def close(self) -> None: ...

    def tokens(self, request: Request) -> int:
        """Text by a factor, and something for each message: as other tokenizers differ from ours."""
        said = sum(count(message.text + "".join(call.name + call.args for call in message.calls)) for message in request.messages)
        return int(1.18 * said) + 9 * len(request.messages) + 1_400

    def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        size = self.tokens(request)
        if size > self.true_window:
            raise error_for(self.name, Facts(Origin.ANSWER, "prompt is too long", 400))
        reply = self.answer(len(self.requests))
        return replace(reply, usage=Usage(0.0, size, 0, 50, 0.0))


def session(talker: Talker, desk: Desk, task: str = "# The task\n\nDo it.", calls: int = 60, usd: float = 100.0, listen: Listener = ignore) -> Loop:
    return Loop(
        talker,
        Brief((Part("system", "How to work.", 3), Part("item", task, count(task)))),
        STEP_TOOLS,
        desk,
        Allowance(calls, usd, 600),
        count=count,
        before=lambda _doing: None,
        checkpoint=lambda _progress: True,
        noted=lambda _progress: None,
        listen=listen,
    )
