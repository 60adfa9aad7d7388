"""Random histories, made by plain git and by agentctl, against an oracle that knows sets only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.histories import claims
from tests.histories.conftest import world_in
from tests.histories.operations import ALL, WITH_WHOLE_STEPS, Operation, attempt_fails, branch, step_lands, switch
from tests.histories.world import COUNTS, World

MORE = int(os.environ.get("HISTORIES", "0"))
"""How many examples to run instead of the few that are always the same."""

_SETTINGS = settings(
    deadline=None,
    derandomize=not MORE,
    database=None,
    phases=[Phase.generate, Phase.shrink] if MORE else [Phase.generate],  # shrinking takes minutes: for whoever looks for a fault
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
quick = settings(_SETTINGS, max_examples=MORE or 4)
whole = settings(_SETTINGS, max_examples=MORE // 5 or 2)


APART: list[tuple[Operation, int, int]] = [(step_lands, 0, 1), (switch, 1, 0), (attempt_fails, 1, 1), (step_lands, 1, 0)]
"""What each history begins with, so that its two branches have something to tell each other."""


def plays(operations: tuple[Operation, ...], least: int) -> st.SearchStrategy[list[tuple[Operation, int, int]]]:
    small = st.integers(0, 7)
    return st.lists(st.tuples(st.sampled_from(operations), small, small), min_size=least, max_size=2 * least)


@pytest.fixture(scope="module", autouse=True)
def counted() -> Iterator[None]:
    yield
    if MORE:
        print(f"\n{dict(sorted(COUNTS.items()))}")  # noqa: T201 - what whoever runs many wants to know


def play(world: World, operations: list[tuple[Operation, int, int]]) -> None:
    """Each operation in turn. What git makes of `.agent/` is compared after each, what agentctl says of it after every fourth."""
    seen: set[str] = set()
    before = claims.expected_total(world)
    for nth, (operation, a, b) in enumerate([*APART, *operations]):
        operation(world, a, b)
        COUNTS["operations"] += 1
        assert world.project.status() == ""
        now = claims.expected_total(world)
        assert operation in (switch, branch) or now >= before
        before = now
        if nth % 4 == 0:
            claims.all_hold(world)
            claims.files_parse_back(world, seen)
    for name in world.branches:
        world.project.git("switch", "--quiet", name)
        claims.all_hold(world)
        claims.files_parse_back(world, seen)
    claims.brief_is_the_commits(world)


@quick
@given(plays(ALL, 12))
def test_any_history_made_by_git_means_what_its_commits_say(
    seed: Path, tmp_path_factory: pytest.TempPathFactory, operations: list[tuple[Operation, int, int]]
) -> None:
    play(world_in(tmp_path_factory.mktemp("play"), seed), operations)


@whole
@given(plays(WITH_WHOLE_STEPS, 6))
def test_so_does_one_in_which_whole_steps_are_taken(
    seed: Path, tmp_path_factory: pytest.TempPathFactory, operations: list[tuple[Operation, int, int]]
) -> None:
    play(world_in(tmp_path_factory.mktemp("play"), seed), operations)
