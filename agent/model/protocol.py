"""What a model is to the rest of agentctl: a name, its limits, its price, and one call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol, Self

from msgspec import Struct

from agent.domain.chat import Reply, Request
from agent.domain.price import Price


class Limits(Struct, frozen=True):
    """Sizes in tokens: the whole window, and the largest reply."""

    window: int
    max_output: int


class Task(Struct, frozen=True):
    """What a conversation is about: an item's id or "plan", and which attempt at it this is, from 1.

    `price` is what the person says that the model costs; None where nobody knows it better than the model's tables.
    """

    topic: str
    attempt: int = 1
    price: Price | None = None


class Endpoint(Struct, frozen=True):
    """Where a model is reached. Comes from the environment, a flag or the person's own config, never from the repository."""

    api_base: str | None = None
    key_env: str | None = None


class Closing(ABC):
    """What leaving a `with` block closes."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what is open. May be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


class Model(AbstractContextManager["Model"], Protocol):
    """A model that can be asked. `complete` and `check` raise `agent.model.errors.ModelError` and nothing else.

    One conversation at a time; leaving a `with` block closes it.
    """

    @property
    def name(self) -> str:
        """The name as the person wrote it, "anthropic/claude-sonnet-4-5" or "scripted:PATH"."""
        ...

    @property
    def limits(self) -> Limits:
        """What the model can hold, or a careful guess where nobody knows. Never waits and never fails."""
        ...

    @property
    def price(self) -> Price | None:
        """None where the price is unknown. Never waits and never fails."""
        ...

    def check(self) -> None:
        """Say what is sure to fail (no key, no such provider) without asking the model anything."""
        ...

    def complete(self, request: Request) -> Reply:
        """Ask once: exactly one request goes out, and no failure is tried again here."""
        ...

    def close(self) -> None:
        """End it; may be called twice."""
        ...


class Around(Closing):
    """A model around another: whoever builds on this says what becomes of `complete`, and the rest is the inner model's word."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def limits(self) -> Limits:
        return self._model.limits

    @property
    def price(self) -> Price | None:
        return self._model.price

    def check(self) -> None:
        self._model.check()

    def close(self) -> None:
        self._model.close()


OpenModel = Callable[[str, Task], Model]
