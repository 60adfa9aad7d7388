"""What a model is to the rest of agentctl: a name, its limits, its price, and one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from agent.domain.chat import Reply, Request


@dataclass(frozen=True)
class Limits:
    """Sizes in tokens: the whole window, and the largest reply."""

    window: int
    max_output: int


@dataclass(frozen=True)
class Price:
    """USD for a million tokens."""

    input: float
    cached: float
    output: float


@dataclass(frozen=True)
class Task:
    """What a conversation is about: an item's id or "plan", and which attempt at it this is, from 1."""

    topic: str
    attempt: int = 1


@dataclass(frozen=True)
class Endpoint:
    """Where a model is reached. Comes from the environment, a flag or the person's own config, never from the repository."""

    api_base: str | None = None
    key_env: str | None = None


class Model(Protocol):
    """A model that can be asked. `complete` raises `agent.model.errors.ModelError` and nothing else."""

    @property
    def name(self) -> str: ...

    @property
    def limits(self) -> Limits: ...

    @property
    def price(self) -> Price | None: ...

    def complete(self, request: Request) -> Reply: ...

    def close(self) -> None: ...
