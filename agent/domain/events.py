"""What happens during a step, told as it happens to whoever watches."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from agent.domain.usage import Usage


class StepBegan(Struct, frozen=True):
    """A step (or a planning session) has the lock, an item and a model; what follows is about it."""

    step: str
    item: str
    model: str


class Phase(Struct, frozen=True):
    """A new phase of the step began, such as "brief", "work", "gate" or "commit"."""

    name: str
    detail: str = ""


class Asking(Struct, frozen=True):
    """The model is asked for the `number`th time in this step; whatever happens, that is over within `limit` seconds."""

    number: int
    limit: float


class Called(Struct, frozen=True):
    """The model answered; `spent` is the step's total so far."""

    number: int
    usage: Usage
    spent: Usage


class Said(Struct, frozen=True):
    """The model said something beside its tool calls."""

    text: str


class ToolBegan(Struct, frozen=True):
    """A tool call is about to run; `brief` is one line about it, safe to show. It is over within `limit` seconds."""

    tool: str
    brief: str
    limit: float


class ToolEnded(Struct, frozen=True):
    """It ran; `result` is one line, safe to show."""

    tool: str
    ok: bool
    result: str
    seconds: float


class CheckBegan(Struct, frozen=True):
    """A check is about to run, for at most `limit` seconds."""

    command: str
    limit: float


class CheckEnded(Struct, frozen=True):
    """One check of the gate ran."""

    command: str
    ok: bool
    summary: str
    seconds: float


class Waiting(Struct, frozen=True):
    """The model can't be reached now, for the reason `why`; it is asked again after `seconds`."""

    seconds: float
    why: str


class StepEnded(Struct, frozen=True):
    """The step's note is committed, or left in the tree (`commit` is ""). `outcome` is the note's."""

    outcome: str
    commit: str
    usage: Usage


class RunEnded(Struct, frozen=True):
    """A run is over for the reason `why`, with the exit status `exit`; `hint` says what to type next."""

    why: str
    hint: str
    exit: int


class Idle(Struct, frozen=True):
    """No step can be taken, for the reason `why`; somebody else must change that, as `hint` says."""

    why: str
    hint: str


class Looked(Struct, frozen=True):
    """It was looked whether somebody did."""


class Alerted(Struct, frozen=True):
    """What was spent in all has passed an amount that the person named; `trouble` is why their command failed, "" where it didn't."""

    text: str
    trouble: str


Event = (
    StepBegan | Phase | Asking | Called | Said | ToolBegan | ToolEnded | CheckBegan | CheckEnded | Waiting
    | StepEnded | RunEnded | Idle | Looked | Alerted
)  # fmt: skip
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """The listener of whoever doesn't watch."""


def all_of(*listeners: Listener) -> Listener:
    """A listener that tells all `listeners`, in their order."""

    def tell(event: Event) -> None:
        for listen in listeners:
            listen(event)

    return tell
