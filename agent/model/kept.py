"""Models for several steps in a row: a process behind them is started once and kept."""

from __future__ import annotations

from pathlib import Path

from agent.model.client import Child, ClientModel, caller_for, child_for, open_client
from agent.model.opening import opener_for
from agent.model.protocol import Closing, Endpoint, Model, Task


class KeptModels(Closing):
    """Opens models as `open_model` does, but those whose calls are made alike share a process, which ends with `close`."""

    def __init__(self, endpoint: Endpoint, root: Path) -> None:
        self._endpoint = endpoint
        self._root = root
        self._children: dict[str, Child] = {}

    def open(self, name: str, task: Task) -> Model:
        """The model called `name`; closing it leaves the process for the next one."""
        opener = opener_for(name)
        if opener is not open_client:
            return opener(name, endpoint=self._endpoint, task=task, root=self._root)
        caller = caller_for(name, self._endpoint)
        if caller not in self._children:
            self._children[caller] = child_for(caller)
        return _Lent(name, self._endpoint, self._children[caller], price=task.price)

    def close(self) -> None:
        """End the processes. May be called twice."""
        for child in self._children.values():
            child.close()


class _Lent(ClientModel):
    """A model whose process is somebody else's to end."""

    def close(self) -> None:
        """Nothing of its own is open."""
