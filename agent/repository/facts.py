"""What commits did to `.agent/`, read from the log once, joined by what they did it to, and kept.

What a commit did follows from it alone. So the cache (of all commits up to some one) can be deleted, or be of another
branch, without anybody noticing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from agent.cache import keep, kept
from agent.domain.message import Told, told_in
from agent.domain.names import NoteName, Outcome, StepId
from agent.domain.usage import Usage
from agent.repository.git import GitError
from agent.repository.repo import FOLDER, Repo

_VERSION = 4
_WORTH_KEEPING = 20  # commits that were read; fewer are read again, which takes 1 to 2 milliseconds each
_LAST_MOMENT = 253_402_300_799  # the end of the year 9999, in seconds since 1970
_TRAILER = "Agent-Step:"
_T = TypeVar("_T")


class Brought(NamedTuple):
    """A commit (its time in seconds, and id) that added the file `what`."""

    what: str
    time: int
    commit: str


class Taken(NamedTuple):
    """A commit that took the note `what` away."""

    what: str
    time: int
    commit: str
    author: str
    message: str


class Telling(NamedTuple):
    """A commit whose trailers tell of the step `what`; `told` as `_words` has it."""

    what: str
    time: int
    commit: str
    told: str


class Past(NamedTuple):
    """What all commits up to some one did, in tables as the cache has them: ten thousand rows are read for each command, and few are looked into.

    Each is in order of what, time and id, so that of several commits the oldest is the first, in every clone. `notes` are called as
    `NoteName` has it, `items` by their paths.
    """

    notes: Sequence[Brought] = ()
    taken: Sequence[Taken] = ()
    items: Sequence[Brought] = ()
    told: Sequence[Telling] = ()


class Fact(NamedTuple):
    """What one commit did: paths added and deleted (inside `.agent/`), and its step trailers."""

    time: int
    commit: str
    added: Sequence[str]
    deleted: Sequence[str]
    told: Sequence[Told]
    author: str
    message: str


def told_by(telling: Telling) -> Told:
    """What a commit tells of a step, as a value."""
    outcome, usage, within, model = telling.told.split(" ", 3)
    usd, *tokens = usage.split(",") if usage else ("",)
    money = float(usd) if usd else None
    return Told(
        StepId.known(telling.what),
        Outcome(outcome) if outcome else None,
        model,
        Usage(money, *map(int, tokens)) if usage else None,
        StepId.known(within) if within else None,
    )


def seconds_of(when: str) -> int:
    """Seconds since 1970 that git tells of a commit, whose date may be broken (told as ""), or of no year that a calendar has: the nearest that is one."""
    return min(max(int(when or 0), 0), _LAST_MOMENT)


def _words(told: Told) -> str:
    """Outcome, usage (USD, and three numbers of tokens), the step it is part of, and model, as `told_by` reads them; nothing where there is none."""
    one = told.usage
    usage = "" if one is None else f"{'' if one.usd is None else one.usd},{one.input},{one.cached},{one.output}"
    return f"{told.outcome or ''} {usage} {told.within or ''} {told.model}"


def read_past(repo: Repo, commit: str) -> Past:
    """What all commits up to `commit` did."""
    cache = repo.private / "cache" / f"history-{_VERSION}.json"
    known, past = _kept(repo, cache)
    if known == commit:
        return past
    try:
        gone = _listed(repo, f"{commit}..{known}") if known else frozenset()
        facts, read = _scan(repo, f"{known}..{commit}" if known else commit)
    except GitError:  # git has thrown away the commit that the cache is of
        past, gone = Past(), frozenset()
        facts, read = _scan(repo, commit)
    past = _joined(past, gone, facts)
    if len(gone) + read > _WORTH_KEEPING and not repo.is_shallow():
        keep(cache, [repo.prefix, commit, [list(zip(*table, strict=True)) for table in past]])
    return past


def _kept(repo: Repo, cache: Path) -> tuple[str | None, Past]:
    """The commit that the cache is of, and what is known up to it. A shallow clone has none: what lies below may come in any time."""
    stored = None if repo.is_shallow() else kept(cache)
    if stored is None or stored[0] != repo.prefix:
        return None, Past()
    _, commit, (notes, taken, items, told) = stored
    return commit, Past(_table(Brought._make, notes), _table(Taken._make, taken), _table(Brought._make, items), _table(Telling._make, told))


def _table(make: Callable[[Iterable[Any]], _T], columns: Sequence[Sequence[Any]]) -> list[_T]:
    return list(map(make, zip(*columns, strict=True)))


def _joined(past: Past, gone: Collection[str], facts: Iterable[Fact]) -> Past:
    """`past` without the commits `gone`, and with `facts`."""
    fresh = [row for fact in facts for row in _rows(fact)]
    tables = [[row for row in table if row.commit not in gone] if gone else table for table in past]
    return Past(*(sorted([*table, *(row for nth, row in fresh if nth == place)]) for place, table in enumerate(tables)))


def _rows(fact: Fact) -> Iterator[tuple[int, Brought | Taken | Telling]]:
    """What `fact` adds to the tables: each row with the place of its table."""
    origin = fact.time, fact.commit
    for path in fact.added:
        if name := _note(path):
            yield 0, Brought(name, *origin)
        elif path.startswith("todo/") and path.endswith(".md"):
            yield 2, Brought(path, *origin)
    for path in fact.deleted:
        if name := _note(path):
            yield 1, Taken(name, *origin, fact.author, fact.message)
    for told in fact.told:
        yield 3, Telling(str(told.step), *origin, _words(told))


def _note(path: str) -> str | None:
    name = NoteName.parse(path)
    return str(name) if name is not None and name.path == path else None


def _listed(repo: Repo, revisions: str) -> frozenset[str]:
    return frozenset(repo.git.run("rev-list", revisions, "--").decode().split())


def _scan(repo: Repo, revisions: str) -> tuple[list[Fact], int]:
    """The facts in a range, and how many commits there are.

    Every commit there is listed (`--sparse`, and no `--diff-filter`, which would hide those without a match), since a squash or a
    merge may tell of steps and change no note. Of a merge (`-c`) only what differs from all of its parents is told.
    """
    base = f"{repo.prefix}{FOLDER}/"
    out = repo.git.run(
        "log", "--full-history", "--sparse", "--no-renames", "--name-status", "-c", "--format=%x00%H%x00%an%x00%ct%x00%B%x00",
        revisions, "--", f"{base}notes", f"{base}todo",
    )  # fmt: skip
    fields = os.fsdecode(out).split("\0")[1:]
    whole = zip(*(fields[n::5] for n in range(5)), strict=True)
    facts = (_fact(base, *words) for words in whole if words[4].strip() or _TRAILER in words[3])  # most commits are people's, and do neither
    found = [fact for fact in facts if fact.added or fact.deleted or fact.told]
    empty = _empty(repo, [fact.commit for fact in found if not fact.added and not fact.deleted])
    return [fact for fact in found if fact.commit not in empty], len(fields) // 5


def _empty(repo: Repo, commits: Sequence[str]) -> frozenset[str]:
    """Those of `commits` that changed no file at all: whatever they tell, no step was in them."""
    trees = repo.git.objects.facts([name for commit in commits for name in (f"{commit}^{{tree}}", f"{commit}^1^{{tree}}")])
    return frozenset(commit for commit, tree, before in zip(commits, trees[0::2], trees[1::2], strict=True) if tree == before)


def _fact(base: str, identity: str, author: str, when: str, message: str, files: str) -> Fact:
    added: list[str] = []
    deleted: list[str] = []
    for line in files.split("\n"):
        letters, _, path = line.partition("\t")
        for letter, paths in (("A", added), ("D", deleted)):
            if path and set(letters) == {letter}:  # a merge has one for each parent
                paths.append(path.removeprefix(base))
    told = told_in(message) if _TRAILER in message else ()
    return Fact(seconds_of(when), identity, added, deleted, told, author, message.strip())
