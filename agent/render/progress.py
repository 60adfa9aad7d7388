"""What a person sees while a step is at work: one line an event, and on a terminal a line that lives."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from typing import IO

from agent.domain.events import (
    Alerted,
    Asking,
    Called,
    CheckBegan,
    CheckEnded,
    Event,
    Idle,
    Listener,
    Phase,
    Said,
    ToolBegan,
    ToolEnded,
    Waiting,
)
from agent.domain.redact import redact
from agent.domain.text import one_line, plain
from agent.domain.usage import NOTHING, Usage
from agent.render.terminal import below

_WIDTH = 110
_SENTENCE = 300  # our own words come whole


def line_of(event: Event) -> str:  # noqa: PLR0911 - one for each kind of event
    """One plain line about `event`; "" for what only the live line shows."""
    match event:
        case Phase(name, detail):
            return f"{name}: {one_line(detail, _SENTENCE)}" if detail else name
        case Said(said):
            return f"  “{one_line(said, _WIDTH)}”"
        case CheckEnded(command, ok, summary, _):
            return f"  {'passed' if ok else 'FAILED'} {one_line(command, 60)}: {one_line(summary, _WIDTH)}"
        case Waiting(seconds, why):
            return f"  waiting {seconds:.0f} s: {one_line(why, _WIDTH)}"
        case Idle(why, hint):
            return f"waiting for a commit: {one_line(why, _SENTENCE)}{f' ({one_line(hint, _SENTENCE)})' if hint else ''}"
        case Alerted(said, trouble):
            return f"  {said}{f'; the alert command failed, {one_line(trouble, _SENTENCE)}' if trouble else ''}"
        case _:
            return ""


def line_of_tool(event: ToolEnded, began: ToolBegan | None) -> str:
    """One plain line about a tool call that ended: what it was about, and what came of it."""
    about = f" {one_line(began.brief, 60)}" if began and began.brief else ""
    took = f" ({event.seconds:.1f} s)" if event.seconds >= 1 else ""
    return f"  {'' if event.ok else 'x '}{event.tool}{about}: {one_line(event.result, _WIDTH)}{took}"


class _Lines:
    """Turns events into lines; a tool's beginning is kept until it ends."""

    def __init__(self) -> None:
        self._began: ToolBegan | None = None

    def line(self, event: Event) -> str:
        if isinstance(event, ToolBegan):
            self._began = event
        if not isinstance(event, ToolEnded):
            return line_of(event)
        began, self._began = self._began, None
        return line_of_tool(event, began)


def spent_text(usage: Usage) -> str:
    """Tokens and money of the step so far, short."""
    money = "" if usage.usd is None else f", {usage.usd:.4f} USD"
    return f"{usage.input + usage.output:,} tokens{money}"


@contextlib.contextmanager
def watching(stream: IO[str]) -> Iterator[Listener]:
    """A listener that writes to `stream`: with a living last line where that is a terminal, else plain lines."""
    lines = _Lines()

    def safe(event: Event) -> str:
        return plain(redact(lines.line(event), os.environ))

    if not stream.isatty():
        yield lambda event: _plain(stream, safe(event))
        return
    from rich.console import Console
    from rich.markup import escape

    console = Console(file=below(stream), highlight=False)
    state = _State()
    living = console.status(state)

    def show(event: Event) -> None:
        state.see(event)
        living.start()  # not before: it has a thread, beside which no model's process is forked
        text = escape(safe(event))
        if text:
            console.print(_painted(event, text))

    try:
        yield show
    finally:
        living.stop()


def _plain(stream: IO[str], text: str) -> None:
    if text:
        stream.write(f"{text}\n")
        stream.flush()


def _painted(event: Event, text: str) -> str:
    match event:
        case Phase():
            return f"[bold cyan]{text}[/]"
        case CheckEnded(_, ok, _, _) | ToolEnded(_, ok, _, _):
            colour = "green" if ok and isinstance(event, CheckEnded) else "" if ok else "red"
            return f"[{colour}]{text}[/]" if colour else text
        case _:
            return f"[dim]{text}[/]"


class _State:
    """What the living line shows: what is going on, for how long, and what it has cost."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._doing = "starting"
        self._spent = NOTHING
        self._calls = 0

    def see(self, event: Event) -> None:
        match event:
            case Phase(name, _):
                self._doing = name
            case Asking():
                self._doing = "waiting for the model"
            case ToolBegan(tool, brief):
                self._doing = f"{tool} {brief}"
            case CheckBegan(command):
                self._doing = command
            case Called(number, _, spent):
                self._calls, self._spent = number, spent
            case Waiting():
                self._doing = "waiting for the provider"
            case Idle():
                self._doing = "waiting for a commit"
            case _:
                pass

    def __rich__(self) -> str:
        """The line as rich asks for it, several times a second."""
        from rich.markup import escape

        return escape(plain(redact(self.line(), os.environ)))

    def line(self) -> str:
        """The line, plain."""
        seconds = int(time.monotonic() - self._began)
        return f"{one_line(self._doing, 70)} · {self._calls} calls, {spent_text(self._spent)} · {seconds // 60}:{seconds % 60:02d}"
