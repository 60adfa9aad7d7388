"""Whether code and notes say the same: what landed is there, what was undone is gone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from agent.actions.findings.finding import Finder, Finding, Look
from agent.actions.scene import Scene
from agent.domain.memory import Record
from agent.domain.names import Outcome
from agent.domain.todo import Standing
from agent.repository.repo import FOLDER, Repo
from agent.repository.revert import cut_off

_LOOKED_AT, _GLANCE = 50, 3  # steps


class _Move(Struct, frozen=True):
    """A path that a commit changed, with its content's id before and after ("" where it wasn't there)."""

    path: str
    before: str
    after: str


def out_of_step(repo: Repo, head: str, records: Sequence[Record], standing: Mapping[str, Standing], most: int) -> list[Finding]:
    """The last `most` landed steps whose code is gone while the note is there, or the other way round. Two git calls in all."""
    chosen = _telling(records, standing, most)
    moves = _moves(repo, [record.commit for record in chosen if record.commit])
    now = _at(repo, head, sorted({move.path for moved in moves.values() for move in moved}))
    found = []
    for record in chosen:
        moved = moves.get(record.commit or "", [])
        if not record.undone and moved and all(now.get(move.path, "") == move.before for move in moved):
            step = record.name.step
            found.append(Finding("warning", f"{step}: its code is gone but its note says done", f'agentctl todo reopen {step.name} --because "…"'))
        elif record.undone and moved and all(now.get(move.path, "") == move.after for move in moved):
            step = record.name.step
            mend = f"git revert {(record.commit or '')[:10]}, or agentctl todo done {step.name}"
            found.append(Finding("warning", f"{step}: it was undone but its code is still there", mend))
    return found


def _telling(records: Sequence[Record], standing: Mapping[str, Standing], most: int) -> list[Record]:
    """Landed steps that decide where their item stands, and undone ones whose item nobody has finished since; the last `most`."""
    found = []
    for record in reversed(records):
        own = standing.get(record.name.item)
        last = own.last if own else None
        done = last is not None and last.outcome is Outcome.DONE
        if record.name.outcome is Outcome.DONE and record.commit and (not done if record.undone else last == record.name):
            found.append(record)
        if len(found) == most:
            break
    return found


def _moves(repo: Repo, commits: Sequence[str]) -> dict[str, list[_Move]]:
    """What each commit changed outside `.agent/`; nothing for merges and for where a shallow clone is cut off."""
    lower = cut_off(repo)
    feed = "".join(f"{commit}\n" for commit in dict.fromkeys(commits) if commit not in lower)
    if not feed:
        return {}
    out = repo.git.run("diff-tree", "--stdin", "--root", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", stdin=feed.encode())
    own = f"{repo.prefix}{FOLDER}/"
    found: dict[str, list[_Move]] = {}
    current: list[_Move] = []
    fields = iter(os.fsdecode(out).split("\0"))
    for field in fields:
        if field.startswith(":"):
            _, _, before, after, _ = field.split(" ")
            path = next(fields)
            if not path.startswith(own):
                current.append(_Move(path, _id(before), _id(after)))
        elif field:
            current = found.setdefault(field, [])
    return found


def _id(text: str) -> str:
    return "" if not text.strip("0") else text


def _at(repo: Repo, head: str, paths: Sequence[str]) -> dict[str, str]:
    """The ids of what `paths` hold at `head`; those that aren't there are left out."""
    found = repo.git.objects.facts([f"{head}:{path}" for path in paths])
    return {path: one.id for path, one in zip(paths, found, strict=True) if one}


def mismatches(scene: Scene) -> list[str]:
    """One line for each of the last three steps whose code and note don't say the same; cheap enough for `status`."""
    found = out_of_step(scene.repo, scene.memory.commit, scene.history.records, scene.memory.standings, _GLANCE)
    return [f"{finding.text}: {finding.mend}" for finding in found]


def mismatched(look: Look) -> Iterator[Finding]:
    """Code and notes that don't say the same."""
    if look.status.head:
        yield from out_of_step(look.repo, look.status.head, look.records, look.standings, _LOOKED_AT)


def shallow(look: Look) -> Iterator[Finding]:
    """The clone's history is cut off."""
    if look.repo.is_shallow():
        text = "this clone is shallow: steps that were undone, and what was spent, before it is cut off aren't known here"
        yield Finding("info", text, "git fetch --unshallow")


LANDED: tuple[Finder, ...] = (mismatched, shallow)
