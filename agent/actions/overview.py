"""Where things stand, as data: status, the list, the log, the cost. Their JSON forms are documented and stable."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from agent.actions.life import Life, life
from agent.actions.paused import all_paused
from agent.actions.scene import Scene
from agent.actions.spending import Budget, all_spending, budget, grouped, sessions, total
from agent.domain.config import NO_SANDBOX, sandbox_kind
from agent.domain.memory import Record
from agent.domain.names import NoteName, Outcome
from agent.domain.note import Note
from agent.domain.todo import Item, Standing, State, next_item, waiting_for
from agent.domain.usage import NOTHING, Usage
from agent.ledger import Spent
from agent.lock import holder
from agent.store import read_notes


class Row(Struct, frozen=True):
    """An item as the list shows it. `why` says what it waits for, or why it is blocked."""

    item: Item
    standing: Standing
    is_next: bool
    why: str = ""


def rows(scene: Scene) -> list[Row]:
    """The whole list in order, done and dropped items where they were."""
    standing = scene.memory.standings
    following = next_item(scene.ordered, standing)
    reasons = _reasons(scene, standing)
    found = []
    for item in scene.ordered:
        own = standing.get(item.id, Standing())
        waiting = waiting_for(item, standing) if own.state is State.OPEN else ()
        why = f"after {', '.join(waiting)}" if waiting else reasons.get(item.id, "")
        found.append(Row(item, own, item is following, why))
    return found


def _reasons(scene: Scene, standing: Mapping[str, Standing]) -> dict[str, str]:
    """Why blocked items are blocked: what their last note says, in one line."""
    names = [own.last for own in standing.values() if own.state is State.BLOCKED and own.last is not None]
    return {name.item: _gist(note) for name, note in read_notes(scene.repo, scene.memory.commit, names).items()}


def _gist(note: Note) -> str:
    lines = [line.strip("- ") for line in note.text.split("\n") if line.strip() and not line.rstrip().endswith(":")]
    return lines[0] if lines else ""


class Where(Struct, frozen=True):
    """What `status` says.

    `running` is the process that holds the lock of this work tree, `paused` the steps that were broken off and can be gone on from, `undone` the
    last step that was taken back. `sandbox` names what confines commands where that is less than usual: none at all, by the settings, or as the
    last letter's note says.
    """

    counts: dict[State, int]
    following: Item | None
    letter: tuple[NoteName, Note] | None
    running: int | None
    life: Life | None
    paused: tuple[str, ...]
    spent: Usage
    budget: Budget
    undone: Record | None
    blocked: tuple[Row, ...]
    sandbox: str = ""


def where(scene: Scene, now: datetime) -> Where:
    """Where it stands at the scene's commit, and what is at work here and left to spend `now`."""
    running = holder(scene.repo.private)
    listed = rows(scene)
    sums = all_spending(scene)
    return Where(
        counts={state: sum(1 for row in listed if row.standing.state is state) for state in State},
        following=next((row.item for row in listed if row.is_next), None),
        letter=scene.letter,
        running=running,
        life=life(scene.repo.private, running, now),
        paused=tuple(one.unfinished.step for one in all_paused(scene.repo)),
        spent=total(sums.spent),
        budget=budget(scene, sums, now),
        undone=next((one for one in reversed(scene.history.records) if one.undone and one.name.outcome is Outcome.DONE), None),
        blocked=tuple(row for row in listed if row.standing.state is State.BLOCKED),
        sandbox=_sandbox(scene),
    )


def _sandbox(scene: Scene) -> str:
    if sandbox_kind(scene.memory.config.sandbox, os.environ) == NO_SANDBOX:
        return NO_SANDBOX
    told = scene.letter[1].sandbox if scene.letter else ""
    return "" if told == NO_SANDBOX else told


class Line(Struct, frozen=True):
    """A step as the log shows it, and what all its sessions spent: nothing where nothing is known (what people said by hand)."""

    record: Record
    spent: Sequence[Spent]

    @property
    def usage(self) -> Usage | None:
        """The sum, None for nothing."""
        return total(self.spent) if self.spent else None


def log_lines(scene: Scene, item: str | None = None) -> list[Line]:
    """All steps, newest first, of one item where it is named; undone ones too."""
    parts = sessions(scene)
    sums = grouped(all_spending(scene).spent, lambda one: parts.get(one.step, one.step))
    chosen = [record for record in scene.history.records if item is None or record.name.item == item]
    return [Line(record, sums.get(record.name.step, ())) for record in reversed(chosen)]


class Cost(Struct, frozen=True):
    """What was spent, in all and by day (UTC), item and model."""

    total: Usage
    days: dict[str, Usage]
    items: dict[str, Usage]
    models: dict[str, Usage]
    budget: Budget
    unpriced: int = 0


def cost(scene: Scene, now: datetime) -> Cost:
    """What was spent, and `now` is left to spend; reverted, failed and interrupted steps included."""
    sums = all_spending(scene)
    spending = sorted(sums.spent, key=lambda one: (one.step, one.day))
    return Cost(
        total=total(spending) if spending else NOTHING,
        days=_totals(sorted(spending, key=lambda one: one.day), lambda one: one.day),
        items=_totals(spending, lambda one: one.item),
        models=_totals(spending, lambda one: one.model),
        budget=budget(scene, sums, now),
        unpriced=sum(1 for one in spending if one.usage.usd is None),
    )


def _totals(spending: Iterable[Spent], key: Callable[[Spent], str]) -> dict[str, Usage]:
    return {name: total(some) for name, some in grouped(spending, key).items()}
