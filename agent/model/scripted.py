"""The recorded model: answers from a YAML file, and calls nothing."""

from __future__ import annotations

from pathlib import Path

from agent.domain.chat import Reply, Request
from agent.domain.price import Price
from agent.domain.usage import NOTHING
from agent.model.errors import CODES, ModelError, Reason
from agent.model.protocol import Closing, Endpoint, Limits, Model, Task
from agent.model.recording import ANY, Attempts, Failure, Recording, read_recording, unreadable

PLAN = "plan"
"""The topic of a planning conversation."""


def open_scripted(name: str, *, endpoint: Endpoint, task: Task, root: Path) -> Model:  # noqa: ARG001  # the openers' common shape
    """The recording "scripted:PATH", at the attempt that `task` says. Raises ModelError, with file and line, when it cannot be read."""
    shown = name.partition(":")[2]
    return ScriptedModel(name, task, shown, read_recording(root / Path(shown).expanduser(), shown, task.price))


class ScriptedModel(Closing):
    """Gives the replies of one attempt, in order; after the last one it only says so, as a model that has stopped working does."""

    def __init__(self, name: str, task: Task, shown: str, recording: Recording) -> None:
        self._name = name
        self._task = task
        self._shown = shown
        self._recording = recording
        attempts = _attempts(recording, task.topic)
        self._entries = iter(attempts[min(task.attempt, len(attempts)) - 1] if attempts else ())
        self._known = bool(attempts)

    @property
    def name(self) -> str:
        return self._name

    @property
    def limits(self) -> Limits:
        return self._recording.limits

    @property
    def price(self) -> Price | None:
        return self._recording.price

    def check(self) -> None:
        if not self._known:
            raise unreadable(f"the recording {self._shown} has nothing for {self._task.topic}")

    def complete(self, request: Request) -> Reply:  # noqa: ARG002  # a recording answers whatever it is asked
        self.check()
        entry = next(self._entries, None)
        if entry is None:
            return Reply(f"(the recording {self._shown} has no further reply)", (), NOTHING, "stop")
        if isinstance(entry, Failure):
            raise _recorded(entry)
        return entry

    def close(self) -> None:
        """Nothing is open."""


def _attempts(recording: Recording, topic: str) -> Attempts:
    if topic == PLAN:
        return recording.plan
    return recording.items.get(topic) or recording.items.get(ANY) or ()


def _recorded(failure: Failure) -> ModelError:
    return ModelError(failure.message, "this error is part of the recording", CODES[failure.kind], kind=failure.kind, reason=Reason.RECORDING)
