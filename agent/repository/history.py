"""What the log says: which commit brought each note and item, what took notes away, and what people did since.

All of it follows from what single commits did (see `facts`), in no order but theirs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

from msgspec import Struct

from agent.domain.memory import Commit, History, Record
from agent.domain.message import Told
from agent.domain.names import NoteName, StepId, known_names
from agent.repository.facts import Brought, Past, Taken, Telling, read_past, seconds_of, told_by
from agent.repository.repo import Repo

_MOST_SINCE = 200


def read_history(repo: Repo, commit: str, notes: Sequence[NoteName]) -> History:
    """The history up to `commit`, whose tree holds `notes`, without what came since the last letter."""
    return history_of(repo, read_past(repo, commit), notes)


def history_of(repo: Repo, past: Past, notes: Sequence[NoteName]) -> History:
    """As `read_history`."""
    oldest = {row.what: row for row in reversed(past.told)}  # of several commits that tell of a step (cherry-picks) the oldest counts
    return History(
        records=tuple(_records(notes, past, oldest)),
        told=_ToldLater(oldest),
        arrival=_arrival(past.items),
        shallow=repo.is_shallow(),
    )


class _ToldLater(Mapping[StepId, Told]):
    """What trailers tell of steps, made when it is asked for."""

    def __init__(self, oldest: Mapping[str, Telling]) -> None:
        self._oldest = oldest

    def __getitem__(self, step: StepId) -> Told:
        return told_by(self._oldest[step])

    def __contains__(self, step: object) -> bool:
        return step in self._oldest

    def __iter__(self) -> Iterator[StepId]:
        return map(StepId.known, self._oldest)

    def __len__(self) -> int:
        return len(self._oldest)


class Since(Struct, frozen=True):
    """What came after a letter: `people` what they committed, newest first, `unread` how many older commits aren't in it; `merged` notes unseen by its writer."""

    people: tuple[Commit, ...] = ()
    merged: tuple[NoteName, ...] = ()
    unread: int = 0


def since_letter(repo: Repo, past: Past, commit: str, notes: Sequence[NoteName], letter: NoteName) -> Since:
    """What came after `letter`, one of `notes`, up to `commit`."""
    origins = [row.commit for row in past.notes if row.what == letter]
    if not origins:
        return Since()
    since, fresh = _since(repo, commit, origins[-1])
    if not fresh:
        return Since()
    seen = {row.what for row in past.notes if row.commit not in fresh}
    merged = tuple(name for name in notes if name != letter and name not in seen)
    speaking = {row.commit for table in (past.notes, past.told) for row in table}
    read = {one.id for one in since}
    return Since(tuple(one for one in since if one.id not in speaking), merged, len(fresh - read - speaking))


def _records(notes: Sequence[NoteName], past: Past, telling: Mapping[str, Telling]) -> list[Record]:
    """A record for each step that is there, was there and is gone, or is told of by a trailer alone (a squash of step and revert)."""
    here = set(notes)
    newest = {row.what: row.commit for row in past.notes}
    taken = {row.what: row for row in past.taken}
    records = []
    for name, commit in zip(known_names(newest), newest.values(), strict=True):
        if name in here:
            records.append(Record(name, commit))
        else:
            records.append(Record(name, commit, undone=True, undone_by=_commit(taken[name]) if name in taken else None))
    merged = here.difference(newest)  # no commit alone has added them: a merge did
    records += [Record(name, telling[name.step].commit if name.step in telling else None) for name in merged]
    for step in telling.keys() - {text.partition(" ")[0] for text in (*newest, *merged)}:
        told = told_by(telling[step])
        if told.outcome is not None:
            records.append(Record(NoteName(told.step, told.outcome), telling[step].commit, undone=True))
    return sorted(records, key=itemgetter(0)) if len(records) > len(newest) else records


def _commit(taken: Taken) -> Commit:
    return Commit(taken.commit, taken.author, _utc(taken.time), taken.message)


def _utc(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _arrival(items: Sequence[Brought]) -> dict[str, int]:
    first = {row.what: row.time for row in reversed(items)}
    ordered = sorted(first, key=lambda path: (first[path], path))
    return {path.removeprefix("todo/").removesuffix(".md"): place for place, path in enumerate(ordered)}


def _since(repo: Repo, commit: str, origin: str) -> tuple[list[Commit], frozenset[str]]:
    """Commits (no merges) that came after `origin`, newest first, at most 200; and the ids of all of them."""
    if origin == commit:
        return [], frozenset()
    where = [repo.prefix] if repo.prefix else []
    out = repo.git.run(
        "log", f"--max-count={_MOST_SINCE}", "--no-merges", "--no-renames", "--name-only", "--format=%x00%H%x00%an%x00%ct%x00%B%x00", f"{origin}..{commit}", "--", *where
    )  # fmt: skip
    fields = out.decode("utf-8", "replace").split("\0")[1:]
    commits = []
    for identity, author, when, message, files in zip(*(fields[n::5] for n in range(5)), strict=False):
        paths = tuple(line.removeprefix(repo.prefix) for line in files.strip("\n").split("\n") if line)
        commits.append(Commit(identity, author, _utc(seconds_of(when)), message.strip(), paths))
    if len(commits) < _MOST_SINCE:
        return commits, frozenset(one.id for one in commits)
    ids = repo.git.run("rev-list", "--no-merges", f"{origin}..{commit}", "--", *where)
    return commits, frozenset(ids.decode("ascii").split())
