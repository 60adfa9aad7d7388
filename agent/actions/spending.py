"""What was spent: the ledger of this repository, joined with what history says of steps that other clones took."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from functools import partial

from msgspec import Struct

from agent.actions.scene import Scene
from agent.domain.caps import Amount, Cap, caps_of
from agent.domain.memory import Record
from agent.domain.names import Outcome, StepId
from agent.domain.usage import Usage
from agent.ledger import Hold, Holds, Ledger, Meter, Purse, Spent, Sums, by_day, spent_by_day
from agent.store import notes_of

_FREE = (Outcome.REOPENED, Outcome.DROPPED)  # what only people say


def all_spending(scene: Scene) -> Sums:
    """Everything ever spent, reverted and failed attempts and steps that died included; each step counted once."""
    sums = Ledger(scene.repo.shared).sums()
    return sums._replace(spent=[*sums.spent, *elsewhere(scene, sums.spent)])


def elsewhere(scene: Scene, here: Iterable[Spent]) -> list[Spent]:
    """What history tells of steps that aren't among those paid for `here`: other clones' and those of a ledger that is gone."""
    known = {one.step for one in here}
    telling = scene.history.told
    steps = {record.name.partition(" ")[0]: record for record in scene.history.records}  # the step as a text: there are thousands
    unknown = [record for step, record in steps.items() if step not in known and record.name.outcome not in _FREE]
    told = [telling[record.name.step] for record in unknown if record.name.step in telling]
    told += [telling[step] for step in telling if step not in steps and step not in known]  # those that others went on from, which left no note
    untold = [record for record in unknown if record.name.step not in telling]
    return [*(_told(one.step, one.model, one.usage) for one in told if one.usage), *_noted(scene, untold, known)]


def _noted(scene: Scene, untold: Iterable[Record], known: Collection[str]) -> Iterator[Spent]:
    """What notes say of steps that no commit tells of, and of those that these went on from."""
    for name, note in notes_of(scene.repo, untold).items():
        for session, usage in note.sessions.items():
            step = session or name.step
            if step not in known:
                yield _told(step, note.model, usage)


def sessions(scene: Scene) -> dict[str, str]:
    """The sessions that steps went on from, each with the step that it came to be part of."""
    telling, records = scene.history.told, scene.history.records
    steps = {record.name.partition(" ")[0]: record for record in records}  # as above
    told = (telling[step] for step in telling if step not in steps)
    found = {str(one.step): str(one.within) for one in told if one.within}
    untold = [record for step, record in steps.items() if step not in telling and record.name.outcome not in _FREE]
    noted = notes_of(scene.repo, untold)
    return found | {str(session): str(name.step) for name, note in noted.items() for session in note.earlier}


def purse_for(scene: Scene, meter: Meter | None = None) -> Purse:
    """The purse that the calls of a step at `scene` are paid from, under the caps of its config and of a run's `meter`."""
    return Purse(scene.repo.shared, scene.memory.config.limits, partial(elsewhere, scene), meter)


class Budget(Struct, frozen=True):
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
    spent = spent_by_day(sums.spent)
    whole = sum(spent.values(), Amount())
    unsettled = Holds(folder).open(Ledger(folder))
    return Budget(
        caps=caps_of(config.limits, f"{now:%Y-%m-%d}", spent, by_day((hold.at[:10], hold.amount) for hold in unsettled)),
        alerts=tuple((amount, amount <= whole.usd) for amount in sorted(set(config.alert.usd))),
        unsettled=tuple(unsettled),
        torn=sums.torn,
    )


def _told(step: StepId, model: str, usage: Usage) -> Spent:
    return Spent.of(str(step), step.day, step.name, model, usage)


def total(spending: Iterable[Spent]) -> Usage:
    """The sum; its money is of the calls whose price is known."""
    usd, tokens, cached, output, seconds = 0.0, 0, 0, 0, 0.0
    for one in spending:
        usd, seconds = usd + (one.usd or 0.0), seconds + one.seconds
        tokens, cached, output = tokens + one.input, cached + one.cached, output + one.output
    return Usage(round(usd, 9), tokens, cached, output, round(seconds, 3))


def grouped(spending: Iterable[Spent], key: Callable[[Spent], str]) -> dict[str, list[Spent]]:
    """Those of each value of `key`, in the order in which they are met."""
    groups: dict[str, list[Spent]] = {}
    for one in spending:
        groups.setdefault(key(one), []).append(one)
    return groups
