"""What was spent: the ledger of this repository, joined with what history says of steps that other clones took."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from agent.actions.scene import Scene
from agent.domain.names import StepId
from agent.domain.usage import NOTHING, Usage
from agent.ledger import Ledger
from agent.store import note_of


@dataclass(frozen=True)
class Spent:
    """What one step used with one model; `day` (UTC) is when."""

    step: str
    day: str
    item: str
    model: str
    usage: Usage


def all_spending(scene: Scene) -> list[Spent]:
    """Everything ever spent, reverted and failed attempts and steps that died included; each step counted once, by step."""
    calls, _ = Ledger(scene.repo.shared).read()
    found = [Spent(call.step, call.at[:10], call.item, call.model, call.usage) for call in calls]
    known = {one.step for one in found}
    for record in scene.history.records:
        step = record.name.step
        if str(step) in known:
            continue
        told = scene.history.told.get(step)
        if told is not None and told.usage is not None:
            found.append(_elsewhere(step, told.model, told.usage))
        elif told is None and (note := note_of(scene.repo, record)) and note.spent:
            found.append(_elsewhere(step, note.model, note.spent))
    return sorted(found, key=lambda one: (one.step, one.day))


def _elsewhere(step: StepId, model: str, usage: Usage) -> Spent:
    return Spent(str(step), step.day, step.name, model, usage)


def total(spending: Iterable[Spent]) -> Usage:
    """The sum; its money is of the calls whose price is known."""
    result = NOTHING
    for one in spending:
        result = result + one.usage.priced
    return result


def grouped(spending: Iterable[Spent], key: Callable[[Spent], str]) -> dict[str, Usage]:
    """The sums for each value of `key`, in the order in which they are met."""
    sums: dict[str, Usage] = {}
    for one in spending:
        sums[key(one)] = sums.get(key(one), NOTHING) + one.usage.priced
    return sums
