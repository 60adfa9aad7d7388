"""Steps that were broken off and can be gone on from: each a commit under `refs/agentctl/paused/`, whose message tells what was noted."""

from __future__ import annotations

from msgspec import Struct

from agent.domain.progress import Unfinished, parse_unfinished
from agent.repository import snapshot
from agent.repository.repo import Repo


class Paused(Struct, frozen=True):
    """A step that can be gone on from: `commit`, which `ref` keeps, holds its work on top of `base`."""

    ref: str
    commit: str
    base: str
    unfinished: Unfinished


def all_paused(repo: Repo) -> list[Paused]:
    """The steps that can be gone on from, oldest first."""
    found = []
    for ref in snapshot.refs(repo, snapshot.PAUSED):
        unfinished = parse_unfinished(ref.message)
        if unfinished and ref.parents:
            found.append(Paused(ref.name, ref.commit, ref.parents[0], unfinished))
    return found


def paused_at(repo: Repo, item: str) -> list[Paused]:
    """Those of `item`."""
    return [paused for paused in all_paused(repo) if paused.unfinished.item == item]


def set_aside(repo: Repo, paused: Paused) -> str:
    """Nobody goes on from there: its work moves to the attempts that did not land. Gives that ref."""
    kept = snapshot.ATTEMPTS + paused.ref.removeprefix(snapshot.PAUSED)
    snapshot.rename(repo, paused.ref, kept)
    return kept
