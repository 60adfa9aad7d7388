"""Models for several steps in a row: the process behind them is started once and kept."""

from __future__ import annotations

import os
from pathlib import Path

from agent.model import opener_for
from agent.model.client import Child, ClientModel, open_client
from agent.model.protocol import Closing, Endpoint, Model, Task
from agent.model.warm import warmth_for


class KeptModels(Closing):
    """Opens models as `open_model` does, but all that litellm reaches share one process, which ends with `close`."""

    def __init__(self, endpoint: Endpoint, root: Path) -> None:
        self._endpoint = endpoint
        self._root = root
        self._child: Child | None = None

    def open(self, name: str, task: Task) -> Model:
        """The model called `name`; closing it leaves the process for the next one."""
        opener = opener_for(name)
        if opener is not open_client:
            return opener(name, endpoint=self._endpoint, task=task, root=self._root)
        if self._child is None:
            self._child = Child(warmth=warmth_for(os.environ))
        return _Lent(name, self._endpoint, self._child, price=task.price)

    def close(self) -> None:
        """End the process. May be called twice."""
        if self._child is not None:
            self._child.close()


class _Lent(ClientModel):
    """A model whose process is somebody else's to end."""

    def close(self) -> None:
        """Nothing of its own is open."""
