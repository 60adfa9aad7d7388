"""A model whose calls are paid from the purse: set aside before each, in the ledger before the reply is used."""

from __future__ import annotations

from collections.abc import Callable

from agent.actions.alert import alert
from agent.actions.scene import Scene
from agent.domain.caps import Amount
from agent.domain.chat import Reply, Request
from agent.domain.events import Listener
from agent.domain.names import StepId
from agent.domain.usage import NOTHING
from agent.errors import AgentctlError
from agent.ledger import Hold, Purse
from agent.model.errors import ModelError
from agent.model.protocol import Around, Model

_AROUND = 16  # tokens of a message beside its text, more than any format has


class MeteredModel(Around):
    """`model`, for one step at one item. `complete` raises CapError too, before anything is sent; `paid` is called after each call that cost something."""

    def __init__(self, model: Model, purse: Purse, step: str, item: str, paid: Callable[[], None]) -> None:
        super().__init__(model)
        self._purse = purse
        self._step = step
        self._item = item
        self._paid = paid

    def complete(self, request: Request) -> Reply:
        hold = self._purse.place(self._step, self._item, self._model.name, self._most(request))
        try:
            reply = self._model.complete(request)
        except ModelError as error:
            self._failed(hold, error)
            raise
        self._purse.settle(hold, reply.usage)
        self._paid()
        return reply

    def _failed(self, hold: Hold, error: ModelError) -> None:
        if error.spent != NOTHING:
            self._purse.settle(hold, error.spent)
            self._paid()
        elif error.unsure:
            self._purse.lose(hold)
        else:
            self._purse.release(hold)

    def _most(self, request: Request) -> Amount:
        given = bytes_of(request) if request.most_input is None else request.most_input
        usd = self._model.price.at_most(given, request.max_output) if self._model.price else 0.0
        return Amount(usd, given + request.max_output)


def bytes_of(request: Request) -> int:
    """More tokens than the prompt of `request` can have: none is shorter than a byte."""
    texts = [message.text + "".join(call.name + call.args for call in message.calls) for message in request.messages]
    texts += [f"{tool.name}{tool.description}{dict(tool.parameters)}" for tool in request.tools]
    return sum(len(text.encode("utf-8", "surrogatepass")) + _AROUND for text in texts)


def metered(model: Model, scene: Scene, purse: Purse, step: StepId, listen: Listener) -> MeteredModel:
    """`model` for `step`, paid from `purse`, with the alerts that the config wants. Raises AgentctlError where its price must be known and isn't."""
    if purse.counts_money and model.price is None:
        raise AgentctlError(
            f"the price of {model.name} is unknown, so a cap on money could not be kept",
            f"say it in .agent/config.yaml, in USD for a million tokens, and commit: prices: {{{model.name}: {{input: 1.0, cached: 0.1, output: 5.0}}}}",
        )
    return MeteredModel(model, purse, str(step), step.name, lambda: alert(scene.repo, scene.memory.config.alert, purse, listen))
