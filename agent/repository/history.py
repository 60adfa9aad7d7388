"""What the log says: which commit brought each note and item, what took notes away, and what people did since.

All of it follows from the facts of single commits (see `facts`), joined in no order but theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from agent.domain.memory import Commit, History, Record
from agent.domain.message import Told
from agent.domain.names import NoteName, Outcome, StepId
from agent.repository.facts import ORDER, Fact, TellingRow, read_facts, told_by
from agent.repository.repo import Repo

_MOST_SINCE = 200
_SLASHES = 2  # in a note's path inside `.agent/`


@dataclass(frozen=True)
class Past:
    """All facts up to a commit, by the paths (inside `.agent/`) that they add and delete, and by the steps (ids) that they tell of; `tellers` tell of any."""

    adding: dict[str, list[Fact]] = field(default_factory=dict)
    deleting: dict[str, list[Fact]] = field(default_factory=dict)
    told: dict[str, tuple[TellingRow, Fact]] = field(default_factory=dict)
    tellers: set[str] = field(default_factory=set)


def read_past(repo: Repo, commit: str) -> Past:
    """The facts up to `commit`, joined. Of several commits that tell of a step (cherry-picks) the oldest counts."""
    past = Past()
    for fact in read_facts(repo, commit):
        for path in fact.added:
            past.adding.setdefault(path, []).append(fact)
        for path in fact.deleted:
            past.deleting.setdefault(path, []).append(fact)
        if fact.told:
            past.tellers.add(fact.commit)
        for row in fact.told:
            first = past.told.get(row[0])
            if first is None or ORDER(fact) < ORDER(first[1]):
                past.told[row[0]] = (row, fact)
    return past


def read_history(repo: Repo, commit: str, notes: Sequence[NoteName]) -> History:
    """The history up to `commit`, whose tree holds `notes`, without what came since the last letter."""
    return history_of(repo, read_past(repo, commit), notes)


def history_of(repo: Repo, past: Past, notes: Sequence[NoteName]) -> History:
    """As `read_history`."""
    return History(
        records=tuple(_records(notes, past)),
        told=_ToldLater(past.told),
        arrival=_arrival(past.adding),
        shallow=repo.is_shallow(),
    )


class _ToldLater(Mapping[StepId, Told]):
    """What trailers tell of steps, made when it is asked for."""

    def __init__(self, rows: Mapping[str, tuple[TellingRow, Fact]]) -> None:
        self._rows = rows

    def __getitem__(self, step: StepId) -> Told:
        return told_by(self._rows[str(step)][0])

    def __iter__(self) -> Iterator[StepId]:
        return (told_by(row).step for row, _ in self._rows.values())

    def __len__(self) -> int:
        return len(self._rows)


def since_letter(repo: Repo, past: Past, commit: str, notes: Sequence[NoteName], letter: NoteName) -> tuple[tuple[Commit, ...], tuple[NoteName, ...]]:
    """What people committed after `letter`, newest first, and those of `notes` that its writer could not see."""
    since, fresh = _since(repo, commit, past.adding.get(letter.path, ()))
    if not fresh:
        return (), ()
    merged = [name for name in notes if name != letter and all(fact.commit in fresh for fact in past.adding.get(name.path, ()))]
    speaking = past.tellers.union(fact.commit for path, facts in past.adding.items() if NoteName.parse(path) for fact in facts)
    return tuple(one for one in since if one.id not in speaking), tuple(merged)


def _records(notes: Sequence[NoteName], past: Past) -> list[Record]:
    """A record for each step that is there, was there and is gone, or is told of by a trailer alone (a squash of step and revert)."""
    here = set(notes)
    records: dict[NoteName, Record] = {}
    for path, facts in past.adding.items():
        name = NoteName.parse(path) if path.count("/") == _SLASHES else None
        if name in here:
            records[name] = Record(name, _newest(facts))
        elif name is not None:
            takers = sorted(past.deleting.get(path, ()), key=ORDER)
            records[name] = Record(name, _newest(facts), undone=True, undone_by=_commit(takers[-1]) if takers else None)
    records |= {name: Record(name, _teller(past, name)) for name in here.difference(records)}
    known = {str(name.step) for name in records}
    for row, fact in past.told.values():
        if row[0] not in known and row[1] is not None:
            told = told_by(row)
            name = NoteName(told.step, Outcome(row[1]))
            records[name] = Record(name, fact.commit, undone=True)
    return [records[name] for name in sorted(records)]


def _newest(facts: Sequence[Fact]) -> str:
    return facts[0].commit if len(facts) == 1 else max(facts, key=ORDER).commit


def _teller(past: Past, name: NoteName) -> str | None:
    """The commit whose message tells of a step that no commit alone has added (a merge did)."""
    told = past.told.get(str(name.step))
    return told[1].commit if told else None


def _commit(fact: Fact) -> Commit:
    return Commit(fact.commit, fact.author, _utc(fact.time), fact.message)


def _utc(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _arrival(adding: Mapping[str, list[Fact]]) -> dict[str, int]:
    first = {path: min(fact.time for fact in facts) for path, facts in adding.items() if path.startswith("todo/") and path.endswith(".md")}
    ordered = sorted(first, key=lambda path: (first[path], path))
    return {path.removeprefix("todo/").removesuffix(".md"): place for place, path in enumerate(ordered)}


def _since(repo: Repo, commit: str, letter: Sequence[Fact]) -> tuple[list[Commit], frozenset[str]]:
    """Commits (no merges) that came after the letter's, newest first, at most 200; and the ids of all of them."""
    if not letter:
        return [], frozenset()
    origin = _newest(letter)
    where = [repo.prefix] if repo.prefix else []
    out = repo.git.run(
        "log", f"--max-count={_MOST_SINCE}", "--no-merges", "--no-renames", "--name-only", "--format=%x00%H%x00%an%x00%ct%x00%B%x00", f"{origin}..{commit}", "--", *where
    )  # fmt: skip
    fields = out.decode("utf-8", "replace").split("\0")[1:]
    commits = []
    for identity, author, time, message, files in zip(*(fields[n::5] for n in range(5)), strict=False):
        paths = tuple(line.removeprefix(repo.prefix) for line in files.strip("\n").split("\n") if line)
        commits.append(Commit(identity, author, _utc(int(time)), message.strip(), paths))
    return commits, frozenset(one.id for one in commits)
