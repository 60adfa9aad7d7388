"""What each commit did to `.agent/`, read from the log once and kept.

A fact follows from its commit alone. So the cache (the facts of all commits up to some one) can be deleted, or be of
another branch, without anybody noticing.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from agent.domain.message import Told, told_in
from agent.domain.names import Outcome, StepId
from agent.domain.usage import Usage
from agent.durable import write_whole
from agent.repository.git import GitError
from agent.repository.repo import FOLDER, Repo

_VERSION = 2
_WORTH_KEEPING = 0.03  # seconds that reading the log took; what is quicker is read again
TellingRow = Sequence[Any]
"""What a step's trailers tell, as JSON has it: step, outcome or None, model, usage or None."""


class Fact(NamedTuple):
    """What one commit did: paths added and deleted (inside `.agent/`), and its step trailers; author and message where it took a note away.

    Kept as JSON has it: ten thousand are read for each command, and few of them are looked into.
    """

    time: int
    commit: str
    added: Sequence[str]
    deleted: Sequence[str]
    told: Sequence[TellingRow]
    author: str
    message: str


ORDER = attrgetter("time", "commit")
"""Facts by commit time (seconds), then id: the same order in every clone."""


def told_by(row: TellingRow) -> Told:
    """A row of `Fact.told` as a value."""
    step, outcome, model, usage = row
    known = StepId.parse(step)
    if known is None:
        raise ValueError(step)
    return Told(known, Outcome(outcome) if outcome else None, model, Usage(*usage) if usage else None)


def _row(told: Told) -> TellingRow:
    usage = told.usage
    return [str(told.step), told.outcome, told.model, usage and [usage.usd, usage.input, usage.cached, usage.output]]


def read_facts(repo: Repo, commit: str) -> list[Fact]:
    """The facts of all commits up to `commit`, in no order."""
    cache = repo.private / "cache" / f"history-{_VERSION}.json"
    known, facts = _cached(repo, cache)
    if known == commit:
        return facts
    began = time.monotonic()
    try:
        gone = _listed(repo, f"{commit}..{known}") if known else frozenset()
        fresh = _scan(repo, f"{known}..{commit}" if known else commit)
    except GitError:  # git has thrown away the commit that the cache is of
        known, facts, gone, fresh = None, [], frozenset(), _scan(repo, commit)
    facts = [fact for fact in facts if fact.commit not in gone] + fresh if gone else facts + fresh
    if time.monotonic() - began > _WORTH_KEEPING and not repo.is_shallow():
        _keep(repo, cache, commit, facts)
    return facts


def _cached(repo: Repo, cache: Path) -> tuple[str | None, list[Fact]]:
    """The commit that the cache is of, and its facts. A shallow clone has none: what lies below may come in any time."""
    if repo.is_shallow():
        return None, []
    try:
        stored = json.loads(cache.read_bytes())
        if stored["prefix"] != repo.prefix:
            return None, []
        return str(stored["commit"]), [Fact(*row) for row in stored["facts"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None, []


def _keep(repo: Repo, cache: Path, commit: str, facts: Sequence[Fact]) -> None:
    with contextlib.suppress(OSError):
        write_whole(cache, json.dumps({"prefix": repo.prefix, "commit": commit, "facts": facts}).encode())


def _listed(repo: Repo, revisions: str) -> frozenset[str]:
    return frozenset(repo.git.run("rev-list", revisions, "--").decode().split())


def _scan(repo: Repo, revisions: str) -> list[Fact]:
    """The facts in a range.

    Every commit there is listed (`--sparse`, and no `--diff-filter`, which would hide those without a match), since a squash or a
    merge may tell of steps and change no note. Of a merge (`-c`) only what differs from all of its parents is told.
    """
    base = f"{repo.prefix}{FOLDER}/"
    out = repo.git.run(
        "log", "--full-history", "--sparse", "--no-renames", "--name-status", "-c", "--format=%x00%H%x00%an%x00%ct%x00%B%x00",
        revisions, "--", f"{base}notes", f"{base}todo",
    )  # fmt: skip
    fields = os.fsdecode(out).split("\0")[1:]
    facts = (_fact(base, *words) for words in zip(*(fields[n::5] for n in range(5)), strict=True))
    found = [fact for fact in facts if fact.added or fact.deleted or fact.told]
    empty = _empty(repo, [fact.commit for fact in found if not fact.added and not fact.deleted])
    return [fact for fact in found if fact.commit not in empty]


def _empty(repo: Repo, commits: Sequence[str]) -> frozenset[str]:
    """Those of `commits` that changed no file at all: whatever they tell, no step was in them."""
    if not commits:
        return frozenset()
    feed = "".join(f"{commit}^{{tree}}\n{commit}^1^{{tree}}\n" for commit in commits)
    trees = repo.git.run("cat-file", "--batch-check=%(objectname)", stdin=feed.encode()).decode().splitlines()
    return frozenset(commit for commit, tree, before in zip(commits, trees[0::2], trees[1::2], strict=True) if tree == before)


def _fact(base: str, identity: str, author: str, when: str, message: str, files: str) -> Fact:
    added: list[str] = []
    deleted: list[str] = []
    for line in files.split("\n"):
        letters, _, path = line.partition("\t")
        for letter, paths in (("A", added), ("D", deleted)):
            if path and set(letters) == {letter}:  # a merge has one for each parent
                paths.append(path.removeprefix(base))
    took_note = any(path.startswith("notes/") for path in deleted)
    told = [_row(one) for one in told_in(message)] if "Agent-Step:" in message else []
    return Fact(int(when), identity, added, deleted, told, author if took_note else "", message.strip() if took_note else "")
