"""Which model stands behind a name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agent.model.client import open_client
from agent.model.protocol import Endpoint, Model, Task
from agent.model.scripted import open_scripted

_OPENERS: dict[str, Callable[..., Model]] = {"scripted": open_scripted}


def open_model(name: str, *, endpoint: Endpoint, task: Task, root: Path) -> Model:
    """The model called `name`: "scripted:PATH", relative to `root`, is a recording, anything else is asked over the network.

    Raises ModelError when a recording cannot be read. Close it, or use it in a `with` block.
    """
    return opener_for(name)(name, endpoint=endpoint, task=task, root=root)


def opener_for(name: str) -> Callable[..., Model]:
    """Who opens the model called `name`, by what stands before its colon."""
    scheme, colon, _ = name.partition(":")
    return _OPENERS.get(scheme, open_client) if colon else open_client
