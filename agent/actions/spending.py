"""What was spent: the ledger of this repository, joined with what history says of steps that other clones took."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter

from agent.actions.scene import Scene
from agent.domain.names import Outcome, StepId
from agent.domain.usage import Usage, summed
from agent.ledger import Ledger, Spent
from agent.store import notes_of

_FREE = (Outcome.REOPENED, Outcome.DROPPED)  # what only people say


def all_spending(scene: Scene) -> list[Spent]:
    """Everything ever spent, reverted and failed attempts and steps that died included; each step counted once, by step."""
    found = Ledger(scene.repo.shared).sums()
    known = {one.step for one in found}
    untold = []
    for record in scene.history.records:
        step, outcome = record.name
        if outcome in _FREE or str(step) in known:
            continue
        told = scene.history.told.get(step)
        if told is None:
            untold.append(record)
        elif told.usage is not None:
            found.append(_elsewhere(step, told.model, told.usage))
    found += [_elsewhere(name.step, note.model, note.spent) for name, note in notes_of(scene.repo, untold).items() if note.spent]
    return sorted(found, key=itemgetter(0, 1))  # by step, then by day


def _elsewhere(step: StepId, model: str, usage: Usage) -> Spent:
    return Spent(str(step), step.day, step.name, model, usage)


def total(spending: Iterable[Spent]) -> Usage:
    """The sum; its money is of the calls whose price is known."""
    return summed(one.usage.priced for one in spending)


def grouped(spending: Iterable[Spent], key: Callable[[Spent], str]) -> dict[str, Usage]:
    """The sums for each value of `key`, in the order in which they are met."""
    sums: dict[str, Usage] = {}
    for one in spending:
        name, usage = key(one), one.usage.priced
        sums[name] = sums[name] + usage if name in sums else usage
    return sums
