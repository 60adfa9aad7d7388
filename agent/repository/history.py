"""What the log says: which commit brought each note and item, what took notes away, and what people did since.

Everything here follows from the commits alone, in no order but theirs: a set of facts for each commit, joined. So the
cache (which holds those facts up to some commit) can be deleted, or be behind, without anybody noticing.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent.domain.memory import Commit, History, Record
from agent.domain.message import Told, told_in
from agent.domain.names import NoteName, Outcome, StepId
from agent.domain.usage import Usage
from agent.durable import write_whole
from agent.repository.repo import FOLDER, Repo

_VERSION = 1
_MOST_SINCE = 200


@dataclass(frozen=True)
class Fact:
    """What one commit did to `.agent/`: paths added and deleted (inside it), its step trailers; `message` where it took a note away."""

    commit: str
    author: str
    time: int
    added: tuple[str, ...]
    deleted: tuple[str, ...]
    told: tuple[Told, ...]
    message: str

    @property
    def order(self) -> tuple[int, str]:
        """By commit time (seconds), then id: the same order in every clone."""
        return (self.time, self.commit)


def read_history(repo: Repo, commit: str, notes: Sequence[NoteName], letter: NoteName | None) -> History:
    """The history up to `commit`, whose tree holds `notes`; `letter` is the note with the current letter."""
    facts = _facts(repo, commit)
    adding: dict[str, list[Fact]] = {}
    deleting: dict[str, list[Fact]] = {}
    for fact in facts:
        for path in fact.added:
            adding.setdefault(path, []).append(fact)
        for path in fact.deleted:
            deleting.setdefault(path, []).append(fact)
    told = {one.step: (one, fact) for fact in sorted(facts, key=lambda fact: fact.order, reverse=True) for one in fact.told}
    since, fresh = _since(repo, commit, adding.get(letter.path, ()) if letter else ())
    merged = tuple(name for name in notes if name != letter and fresh and all(fact.commit in fresh for fact in adding.get(name.path, ())))
    records = _records(notes, adding, deleting, told)
    brought = {fact.commit for fact in facts if _brought_note(fact)}
    return History(
        records=tuple(records),
        told={step: one for step, (one, _) in told.items()},
        arrival=_arrival(adding),
        since=tuple(one for one in since if one.id not in brought),
        merged=merged if letter else (),
        shallow=repo.is_shallow(),
    )


def _brought_note(fact: Fact) -> bool:
    return any(NoteName.parse(path) for path in fact.added) or bool(fact.told)


def _records(
    notes: Sequence[NoteName],
    adding: Mapping[str, list[Fact]],
    deleting: Mapping[str, list[Fact]],
    told: Mapping[StepId, tuple[Told, Fact]],
) -> list[Record]:
    """A record for each step that is there, was there and is gone, or is told of by a trailer alone (a squash of step and revert)."""
    here = set(notes)
    records = {name: Record(name, _newest(adding.get(name.path, ()), told.get(name.step))) for name in notes}
    for path, facts in adding.items():
        name = NoteName.parse(path)
        if name is not None and name not in here:
            takers = sorted(deleting.get(path, ()), key=lambda fact: fact.order)
            records[name] = Record(name, _newest(facts, None), undone=True, undone_by=_commit(takers[-1]) if takers else None)
    known = {name.step for name in records}
    for step, (one, fact) in told.items():
        if step not in known and one.outcome is not None:
            records[NoteName(step, one.outcome)] = Record(NoteName(step, one.outcome), fact.commit, undone=True)
    return [records[name] for name in sorted(records)]


def _newest(facts: Iterable[Fact], otherwise: tuple[Told, Fact] | None) -> str | None:
    newest = max(facts, key=lambda fact: fact.order, default=otherwise[1] if otherwise else None)
    return newest.commit if newest else None


def _commit(fact: Fact) -> Commit:
    return Commit(fact.commit, fact.author, _utc(fact.time), fact.message)


def _utc(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _arrival(adding: Mapping[str, list[Fact]]) -> dict[str, int]:
    first = {path: min(fact.time for fact in facts) for path, facts in adding.items() if path.startswith("todo/") and path.endswith(".md")}
    ordered = sorted(first, key=lambda path: (first[path], path))
    return {path.removeprefix("todo/").removesuffix(".md"): place for place, path in enumerate(ordered)}


def _since(repo: Repo, commit: str, letter: Iterable[Fact]) -> tuple[list[Commit], frozenset[str]]:
    """Commits (no merges) that came after the letter's, newest first, at most 200; and the ids of all of them."""
    origin = _newest(letter, None)
    if origin is None:
        return [], frozenset()
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


def _facts(repo: Repo, commit: str) -> list[Fact]:
    """The facts of all commits up to `commit`, from the cache and what came after it."""
    cache = repo.private / "cache" / f"history-{_VERSION}.json"
    known, facts = _cached(repo, cache, commit)
    if known == commit:
        return facts
    fresh = _scan(repo, f"{known}..{commit}" if known else commit)
    facts = facts + fresh
    with contextlib.suppress(OSError):
        write_whole(cache, json.dumps({"prefix": repo.prefix, "commit": commit, "facts": [_as_list(fact) for fact in facts]}).encode())
    return facts


def _cached(repo: Repo, cache: Path, commit: str) -> tuple[str | None, list[Fact]]:
    try:
        stored = json.loads(cache.read_bytes())
        known, prefix = stored["commit"], stored["prefix"]
        if prefix != repo.prefix or repo.is_shallow():
            return None, []
        if known != commit and repo.git.status("merge-base", "--is-ancestor", known, commit) != 0:
            return None, []
        return known, [_from_list(row) for row in stored["facts"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None, []


def _as_list(fact: Fact) -> list[object]:
    told = [
        [str(one.step), one.outcome, one.model, one.usage and [one.usage.usd, one.usage.input, one.usage.cached, one.usage.output]]
        for one in fact.told
    ]
    return [fact.commit, fact.author, fact.time, fact.added, fact.deleted, told, fact.message]


def _from_list(row: Sequence[Any]) -> Fact:
    commit, author, time, added, deleted, told, message = row
    return Fact(commit, author, time, tuple(added), tuple(deleted), tuple(_told(*one) for one in told), message)


def _told(step: str, outcome: str | None, model: str, usage: Sequence[Any] | None) -> Told:
    known = StepId.parse(step)
    if known is None:
        raise ValueError(step)
    return Told(known, Outcome(outcome) if outcome else None, model, Usage(*usage) if usage else None)


def _scan(repo: Repo, revisions: str) -> list[Fact]:
    base = f"{repo.prefix}{FOLDER}/"
    out = repo.git.run(
        "log", "--full-history", "--no-renames", "--name-status", "--diff-filter=AD", "--format=%x00%H%x00%an%x00%ct%x00%B%x00",
        revisions, "--", f"{base}notes", f"{base}todo",
    )  # fmt: skip
    fields = os.fsdecode(out).split("\0")[1:]
    return [
        _fact(base, identity, author, int(time), message, files)
        for identity, author, time, message, files in zip(*(fields[n::5] for n in range(5)), strict=False)
    ]


def _fact(base: str, identity: str, author: str, time: int, message: str, files: str) -> Fact:
    added: list[str] = []
    deleted: list[str] = []
    for line in files.split("\n"):
        letter, _, path = line.partition("\t")
        if path:
            (added if letter == "A" else deleted).append(path.removeprefix(base))
    took_note = any(path.startswith("notes/") for path in deleted)
    told = told_in(message) if "Agent-Step:" in message else ()
    return Fact(identity, author, time, tuple(added), tuple(deleted), told, message.strip() if took_note else "")
