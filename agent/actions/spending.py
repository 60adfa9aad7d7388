"""What was spent: the ledger of this repository, joined with what history says of steps that other clones took."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter

from agent.actions.scene import Scene
from agent.domain.caps import Amount, Cap, caps_of
from agent.domain.names import Outcome, StepId
from agent.domain.usage import Usage, summed
from agent.ledger import Hold, Holds, Ledger, Meter, Purse, Spent, Sums, by_day
from agent.store import notes_of

_FREE = (Outcome.REOPENED, Outcome.DROPPED)  # what only people say


def all_spending(scene: Scene) -> Sums:
    """Everything ever spent, reverted and failed attempts and steps that died included; each step counted once, by step."""
    sums = Ledger(scene.repo.shared).sums()
    found = [*sums.spent, *elsewhere(scene, sums.spent)]
    return sums._replace(spent=sorted(found, key=itemgetter(0, 1)))  # by step, then by day


def elsewhere(scene: Scene, here: Iterable[Spent]) -> list[Spent]:
    """What history tells of steps that aren't among those paid for `here`: other clones' and those of a ledger that is gone."""
    known = {one.step for one in here}
    found, untold = [], []
    unknown = [record for record in scene.history.records if record.name.partition(" ")[0] not in known]  # the step as a text: there are thousands
    for record in unknown:
        step = record.name.step
        if record.name.outcome in _FREE:
            continue
        told = scene.history.told.get(step)
        if told is None:
            untold.append(record)
        elif told.usage is not None:
            found.append(_told(step, told.model, told.usage))
    return [*found, *(_told(name.step, note.model, note.spent) for name, note in notes_of(scene.repo, untold).items() if note.spent)]


def purse_for(scene: Scene, meter: Meter | None = None) -> Purse:
    """The purse that the calls of a step at `scene` are paid from, under the caps of its config and of a run's `meter`."""
    folder = scene.repo.shared
    return Purse(folder, scene.memory.config.limits, elsewhere(scene, Ledger(folder).sums().spent), meter)


@dataclass(frozen=True)
class Budget:
    """The caps as they stand, and each amount of the config's alert with whether it is passed.

    `unsettled` are calls of which nobody knows what they cost, under way or broken off; `torn` lines of the ledger can't be read.
    """

    caps: tuple[Cap, ...]
    alerts: tuple[tuple[float, bool], ...]
    unsettled: tuple[Hold, ...]
    torn: int

    @property
    def held(self) -> Amount:
        """What the unsettled calls may have cost at most."""
        return sum((hold.amount for hold in self.unsettled), Amount())


def budget(scene: Scene, sums: Sums, now: datetime) -> Budget:
    """What is left of what may be spent, where `sums` is all that was."""
    config, folder = scene.memory.config, scene.repo.shared
    spent = by_day((one.day, Amount.of(one.usage)) for one in sums.spent)
    whole = sum(spent.values(), Amount())
    unsettled = Holds(folder).open(Ledger(folder))
    return Budget(
        caps=caps_of(config.limits, f"{now:%Y-%m-%d}", spent, by_day((hold.at[:10], hold.amount) for hold in unsettled)),
        alerts=tuple((amount, amount <= whole.usd) for amount in sorted(set(config.alert.usd))),
        unsettled=tuple(unsettled),
        torn=sums.torn,
    )


def _told(step: StepId, model: str, usage: Usage) -> Spent:
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
