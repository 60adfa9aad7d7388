"""What must hold of a repository at any moment, said by agentctl's own commands and compared with the oracle."""

from __future__ import annotations

import re

from agent.domain.lesson import parse_lesson, render_lesson
from agent.domain.names import NoteName
from agent.domain.note import parse_note, render_note
from agent.domain.todo import parse_item, render_item
from tests.histories.oracle import named, step_of
from tests.histories.world import World


def list_says_what_history_means(world: World) -> None:
    rows = world.project.agentctl("todo", "--json").json
    head = world.head()
    assert {row["id"]: row["state"] for row in rows} == world.oracle.states(head)
    assert {row["id"]: row["attempts"] for row in rows} == {row["id"]: world.oracle.attempts(head, row["id"]) for row in rows}


def log_says_what_was_undone(world: World) -> None:
    lines = world.project.agentctl("log", "--json").json
    head = world.head()
    there, ever = world.files(), world.oracle.ever(head)
    assert {line["step"]: line["undone_by"] is not None for line in lines} == {step_of(note): note not in there for note in ever}
    assert {line["step"]: (line["item"], line["outcome"]) for line in lines} == {step_of(note): named(note) for note in ever}
    notes = {step_of(note): note for note in ever}
    for line in lines:
        if line["undone_by"] is not None:
            takers = world.oracle.takers(head, notes[line["step"]])
            assert line["undone_by"] in takers or not takers
            assert line["undone_by"] in takers or line["undone_by"] == ""


def expected_total(world: World) -> float:
    """What the ledger and the history of HEAD hold together, by the oracle."""
    known = world.ledgered | (world.oracle.ever(world.head()) & world.costs.keys())
    return round(sum(world.costs[note] for note in known), 6)


def total_is_what_was_spent(world: World) -> None:
    assert round(world.project.agentctl("cost", "--json").json["total"]["usd"], 6) == expected_total(world)


def all_hold(world: World) -> None:
    list_says_what_history_means(world)
    log_says_what_was_undone(world)
    total_is_what_was_spent(world)


def files_parse_back(world: World, seen: set[str]) -> None:
    """Every file that agentctl wrote, and no person edited, is what its own renderer makes of what its parser reads."""
    tree = world.tree()
    fresh = [path for path, blob in tree.items() if blob not in seen and path not in world.edited and "/" in path]
    blobs = world.repo.blobs([tree[path] for path in fresh])
    for path, data in zip(fresh, blobs, strict=True):
        assert data is not None
        assert _bare(path, _again(path, data.decode())) == _bare(path, data.decode()), path
        seen.add(tree[path])


def _bare(path: str, text: str) -> str:
    """Items that arrive together carry comment lines that depend on each other; everything else is whole."""
    return re.sub(r"^# [a-z0-9-]+: kept unlike .*\n(?:# [a-z2-7]+\n)*", "", text, flags=re.MULTILINE) if path.startswith("todo/") else text


def _again(path: str, text: str) -> str:
    if path.startswith("todo/"):
        return render_item(parse_item(text, path))
    if path.startswith("lessons/"):
        return render_lesson(parse_lesson(text, path))
    name = NoteName.parse(path)
    assert name
    return render_note(parse_note(text, path), name.step)


def brief_is_the_commits(world: World) -> None:
    """The brief at HEAD, for the first item of the list: with a warm cache, none, and another branch's."""
    rows = world.project.agentctl("todo", "--json").json
    if not rows:
        return
    head, item = world.head(), rows[0]["id"]
    whole = world.project.agentctl("context", "--item", item)
    assert whole.code == 0, whole.err
    for file in (world.project.root / ".git/agentctl/cache").glob("history-*"):
        file.unlink()
    assert world.project.agentctl("context", "--item", item).out == whole.out
    world.project.agentctl("context", "--at", next(name for name in world.branches if name != world.branch()))
    assert world.project.agentctl("context", "--at", head, "--item", item).out == whole.out
