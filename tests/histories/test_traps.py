"""Histories that have fooled others, one by one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.histories import claims
from tests.histories.operations import (
    attempt_fails,
    cherry_pick,
    letter,
    merge,
    person_codes,
    rebase,
    revert_commit,
    say,
    session_asks,
    squash,
    step_lands,
    step_lands_elsewhere,
)  # fmt: skip
from tests.histories.world import World
from tests.project import Project

MAIN, B1 = "main", "b1"
ITEM = "add-a-test"


def on(world: World, branch: str) -> None:
    world.project.git("switch", "--quiet", branch)


def state(world: World) -> str:
    return world.oracle.states(world.head())[ITEM]


SHORTEST = [(0, 0), (0, 1), (1, 0), (1, 1)]
"""Notes and letters of no or one word; with lessons or proposals where a or b is 0."""


@pytest.mark.parametrize("way", [step_lands, attempt_fails, session_asks])
@pytest.mark.parametrize(("a", "b"), SHORTEST)
def test_a_twin_is_never_taken_for_what_was_reverted_on_both_branches(world: World, way: object, a: int, b: int) -> None:
    assert callable(way)
    way(world, a, b)
    first = world.head()
    on(world, B1)
    world.project.git("merge", "--quiet", MAIN)
    revert_commit(world, first)
    way(world, a, b)
    on(world, MAIN)
    revert_commit(world, first)
    way(world, a, b)
    merge(world, 0, 0)
    claims.all_hold(world)
    revert_commit(world, world.project.git("rev-parse", "HEAD^1").strip())
    revert_commit(world, world.project.git("rev-parse", "HEAD~1^2").strip())
    claims.all_hold(world)


def test_equal_letters_and_equal_reasons_are_never_taken_for_each_other(world: World) -> None:
    for speak in (letter, say):
        on(world, MAIN)
        speak(world, 1, 1)
        first = world.head()
        on(world, B1)
        world.project.git("merge", "--quiet", "--no-edit", MAIN)
        revert_commit(world, first)
        speak(world, 1, 1)
        on(world, MAIN)
        revert_commit(world, first)
        merge(world, 0, 0)
        claims.all_hold(world)


def test_a_day_whose_notes_went_is_not_taken_for_the_day_that_came(world: World) -> None:
    """git would move what another branch adds to `notes/DAY` into the folder that DAY seems to have become."""
    for _ in range(3):
        attempt_fails(world, 0, 1)
    first_day = world.commits()
    on(world, B1)
    world.project.git("merge", "--quiet", MAIN)
    for commit in first_day:
        revert_commit(world, commit)
    world.skip(days=1)
    for _ in range(3):
        attempt_fails(world, 0, 1)
    world.skip(days=-1)
    on(world, MAIN)
    attempt_fails(world, 0, 1)
    merge(world, 0, 0)
    assert len({path.split("/")[1] for path in world.files() if path.startswith("notes/")}) == 2
    claims.all_hold(world)


def test_items_of_one_template_are_never_taken_for_each_other(world: World) -> None:
    for folder in ("one", "two"):
        for name in "abcd":
            world.project.write(f"{folder}/{name}.txt", f"{folder} {name}\n")
    world.project.commit("contracts")
    world.take_in()
    plan = ("plan", "--title", "Review {path}", "--text", "Read it whole and name every clause that a customer could hold against us.", "--each")
    assert world.agentctl(*plan, "one/*.txt").code == 0
    first = world.head()
    on(world, B1)
    world.project.git("merge", "--quiet", MAIN)
    revert_commit(world, first)
    assert world.agentctl(*plan, "two/*.txt").code == 0
    on(world, MAIN)
    revert_commit(world, first)
    merge(world, 0, 0)
    assert sum(path.startswith("todo/review-two") for path in world.files()) == 4
    claims.all_hold(world)


@pytest.mark.parametrize("style", [0, 1])
def test_a_squash_of_a_step_and_its_revert_tells_of_both(world: World, style: int) -> None:
    on(world, B1)
    step_lands_elsewhere(world, 0, 0)
    revert_commit(world, world.head())
    person_codes(world, 1, 1)
    on(world, MAIN)
    squash(world, 0, style)
    assert state(world) == "open"
    assert claims.expected_total(world) == 0.25
    claims.all_hold(world)


def test_a_rebase_that_drops_a_step_opens_its_item_and_forgets_no_money(world: World) -> None:
    step_lands(world, 0, 1)
    dropped = world.head()
    person_codes(world, 1, 1)
    before = claims.expected_total(world)
    world.rewritten()
    world.project.git("rebase", "--quiet", "--onto", f"{dropped}^", dropped)
    world.oracle.add(world.head(), [world.project.git("rev-parse", "HEAD^").strip()], frozenset(world.tree()))
    assert state(world) == "open"
    assert claims.expected_total(world) == before
    claims.all_hold(world)


def test_a_cherry_picked_step_that_is_merged_later_landed_once(world: World) -> None:
    on(world, B1)
    step_lands(world, 0, 1)
    on(world, MAIN)
    person_codes(world, 1, 1)
    cherry_pick(world, 0, 0)
    merge(world, 0, 0)
    assert world.oracle.attempts(world.head(), ITEM) == 1
    claims.all_hold(world)
    revert_commit(world, world.project.git("rev-parse", "HEAD^1").strip())
    assert state(world) == "open"
    claims.all_hold(world)


def test_a_revert_of_a_revert_lands_the_step_again_and_can_be_reverted(world: World) -> None:
    step_lands(world, 0, 1)
    for expected in ("open", "done", "open", "done"):
        revert_commit(world, world.head())
        assert state(world) == expected
        claims.all_hold(world)


def test_a_step_reverted_on_two_branches_is_undone_once_they_meet_and_again_done_where_a_revert_is_reverted(world: World) -> None:
    step_lands(world, 0, 1)
    step = world.head()
    on(world, B1)
    world.project.git("merge", "--quiet", MAIN)
    revert_commit(world, step)
    on(world, MAIN)
    person_codes(world, 1, 1)
    revert_commit(world, step)
    merge(world, 0, 0)
    assert state(world) == "open"
    claims.all_hold(world)
    revert_commit(world, world.project.git("rev-parse", "HEAD^1").strip())
    assert state(world) == "done"
    claims.all_hold(world)


def test_a_merge_that_drops_a_note_undoes_the_step(world: World) -> None:
    step_lands(world, 0, 1)
    note = max(path for path in world.files() if path.startswith("notes/"))
    on(world, B1)
    person_codes(world, 1, 1)
    files = world.oracle.merged(world.head(), world.project.git("rev-parse", MAIN).strip())
    world.project.git("merge", "--quiet", "--no-commit", MAIN)
    world.project.git("rm", "--quiet", "--force", f".agent/{note}")
    world.project.git("commit", "--quiet", "--no-edit")
    world.derive(files - {note})
    assert state(world) == "open"
    claims.all_hold(world)


def test_a_note_that_came_in_with_a_merge_is_history_when_it_is_taken_back(world: World) -> None:
    step_lands(world, 0, 1)
    on(world, B1)
    person_codes(world, 1, 1)
    world.project.git("merge", "--quiet", "--no-commit", "--no-ff", MAIN)
    note = f"notes/2026-11-30/000000-{ITEM}.dropped.md"
    world.project.write(f".agent/{note}", "# Add a test\n\nNot now.\n")
    world.project.git("add", ".agent")
    world.project.git("commit", "--quiet", "--no-edit")
    world.blobs[note] = {world.tree()[note]}
    world.derive(frozenset(world.tree()))
    assert state(world) == "dropped"
    claims.all_hold(world)
    world.project.git("rm", "--quiet", f".agent/{note}")
    world.project.commit("Now, after all", ".agent")
    world.take_in()
    assert state(world) == "done"
    claims.all_hold(world)


def test_a_rebase_onto_a_squash_of_itself_counts_each_step_once(world: World) -> None:
    on(world, B1)
    step_lands(world, 0, 1)
    attempt_fails(world, 1, 1)
    on(world, MAIN)
    person_codes(world, 1, 1)
    squash(world, 0, 1)
    on(world, B1)
    step_lands(world, 1, 1)
    rebase(world, 0, 0)
    claims.all_hold(world)
    assert claims.expected_total(world) == 0.75


def test_a_shallow_clone_knows_the_list_and_says_no_step_was_undone_of_which_it_can_not_know(world: World, tmp_path: Path) -> None:
    for a in range(3):
        step_lands(world, a, 1)
    clone = Project(tmp_path / "shallow", world.project.recording)
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{world.project.root}", clone.root], check=True)
    rows = clone.agentctl("todo", "--json").json
    assert {row["id"]: row["state"] for row in rows} == world.oracle.states(world.head())
    assert all(line["undone_by"] is None for line in clone.agentctl("log", "--json").json)
    assert clone.agentctl("context", "--item", ITEM).code == 0
    assert clone.agentctl("doctor").code in (0, 1)
