"""Which steps are meant by what a person types: step ids, item ids, commits, ranges."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

from msgspec import Struct

from agent.domain.memory import Record
from agent.domain.names import NoteName, Outcome, StepId
from agent.domain.text import one_line
from agent.errors import AgentctlError
from agent.repository.repo import Repo
from agent.repository.revert import cut_off, parents

_WORK = (Outcome.DONE, Outcome.FAILED, Outcome.BLOCKED)


class Known(Struct, frozen=True):
    """What words can name: the steps that history knows, by time, and the ids of the items that are there."""

    repo: Repo
    records: tuple[Record, ...]
    items: Collection[str]


def named(known: Known, words: Sequence[str]) -> tuple[Record, ...]:
    """The steps that `words` name, by time, undone ones too. Raises AgentctlError for a word that names none."""
    found = {record.name: record for word in words for record in (_range(known, word) if ".." in word else _one(known, word))}
    return tuple(found[name] for name in sorted(found))


def _range(known: Known, word: str) -> tuple[Record, ...]:
    """Both ends and all attempts between them; what people said by hand is nobody's attempt and stays, but "done"."""
    ends = [_one(known, end) for end in word.split("..", 1) if end]
    if len(ends) != 2:  # noqa: PLR2004 - a range has two ends
        raise AgentctlError(f"{word!r} lacks an end", "agentctl undo FIRST..LAST; agentctl log shows the steps")
    first, last = sorted((ends[0][0].name, ends[1][-1].name))
    return tuple(record for record in known.records if first <= record.name <= last and record.name.outcome in _WORK)


def _one(known: Known, word: str) -> tuple[Record, ...]:
    step = StepId.parse(word)
    if step is not None:
        return _of_step(known, step)
    if word in known.items or any(record.name.item == word for record in known.records):
        return _of_item(known, word)
    commit = known.repo.resolve(word)
    if commit is not None:
        return _of_commit(known, word, commit)
    raise AgentctlError(f"{one_line(word, 60)!r} is no step, no item and no commit here", "agentctl log shows the steps")


def _of_step(known: Known, step: StepId) -> tuple[Record, ...]:
    found = tuple(record for record in known.records if record.name.step == step)
    if found:
        return found
    if known.repo.is_shallow():
        raise AgentctlError(f"{step} isn't in this clone, which is shallow", "git fetch --unshallow")
    raise AgentctlError(f"{step} is no step of this branch", "agentctl log shows the steps")


def _of_item(known: Known, item: str) -> tuple[Record, ...]:
    """The latest landed step that stands; else the latest that was undone."""
    mine = [record for record in known.records if record.name.item == item]
    landed = [record for record in mine if record.name.outcome is Outcome.DONE]
    standing = [record for record in landed if not record.undone]
    if landed:
        return ((standing or landed)[-1],)
    attempts = [record for record in mine if record.name.outcome in _WORK and not record.undone]
    hint = f"agentctl undo {attempts[-1].name.step} takes back its last attempt" if attempts else "agentctl log shows the steps"
    raise AgentctlError(f"no step at {item} has landed", hint)


def _of_commit(known: Known, word: str, commit: str) -> tuple[Record, ...]:
    brought = notes_brought_by(known.repo, commit)
    found = tuple(record for record in known.records if record.commit == commit or record.name in brought)
    if found:
        return found
    number = len(parents(known.repo, commit))
    by_hand = f"git revert {'-m 1 ' if number > 1 else ''}{word}"
    raise AgentctlError(f"{one_line(word, 60)} brought no step", f"{by_hand} takes back any commit")


def notes_brought_by(repo: Repo, commit: str) -> frozenset[NoteName]:
    """The notes that `commit` added; none for a merge."""
    out = repo.git.run("diff-tree", "--root", "-r", "-z", "--no-commit-id", "--no-renames", "--name-only", "--diff-filter=A", commit)
    own = f"{repo.prefix}.agent/notes/"
    paths = (path.removeprefix(f"{repo.prefix}.agent/") for path in os.fsdecode(out).split("\0") if path.startswith(own))
    return frozenset(name for path in paths if (name := NoteName.parse(path)))


def commits_of(known: Known, records: Sequence[Record]) -> tuple[str, ...]:
    """The commits to revert for `records`, newest first. Raises AgentctlError where that can't be done, or would take more than was named."""
    wanted = {record.name for record in records}
    standing = {record.name for record in known.records if not record.undone}
    lower = cut_off(known.repo)
    commits: dict[str, None] = {}
    for record in records:
        commit = _commit_of(known.repo, record, lower)
        if commit in commits:
            continue
        more = sorted((notes_brought_by(known.repo, commit) & standing) - wanted)
        if more:
            names = " ".join(str(name.step) for name in more)
            raise AgentctlError(
                f"{record.name.step} came in one commit ({commit[:10]}) with {names}",
                f"name that commit to take all of it back: agentctl undo {commit[:10]}",
            )
        commits[commit] = None
    return _newest_first(known.repo, list(commits))


def _commit_of(repo: Repo, record: Record, lower: Collection[str]) -> str:
    step = record.name.step
    if record.commit in lower:
        raise AgentctlError(f"this clone is shallow, and what brought {step} lies below where it is cut off", "git fetch --unshallow")
    if record.commit is None:
        raise AgentctlError(f"no commit here brought {step}'s note", f"git log --all -- '.agent/{record.name.path}' shows where it came from")
    number = len(parents(repo, record.commit))
    if number == 0:
        raise AgentctlError(
            f"{step} is part of the first commit ({record.commit[:10]}), and taking that back would leave no file at all",
            f'agentctl todo reopen {step.name} --because "…"',
        )
    if number > 1:
        raise AgentctlError(f"{step} came in by a merge ({record.commit[:10]})", f"git revert -m 1 {record.commit[:10]} takes back all of it")
    return record.commit


def _newest_first(repo: Repo, commits: list[str]) -> tuple[str, ...]:
    if len(commits) < 2:  # noqa: PLR2004 - one commit is in order
        return tuple(commits)
    wanted = set(commits)
    listed = repo.git.run("rev-list", "--topo-order", "HEAD").decode().split()
    return tuple(commit for commit in listed if commit in wanted)
