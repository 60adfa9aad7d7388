"""The list: states from names, order, dependencies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.names import NoteName, Outcome, StepId
from agent.domain.todo import Item, Standing, State, check_links, in_order, next_item, standings, waiting_for
from agent.errors import AgentctlError


def note(second: int, item: str, outcome: Outcome) -> NoteName:
    return NoteName(StepId("2026-11-29", f"{second:06}", item), outcome)


@pytest.mark.parametrize(
    ("words", "state", "failures"),
    [
        ([Outcome.FAILED], State.OPEN, 1),
        ([Outcome.FAILED, Outcome.FAILED, Outcome.BLOCKED], State.BLOCKED, 0),
        ([Outcome.BLOCKED, Outcome.REOPENED, Outcome.FAILED], State.OPEN, 1),
        ([Outcome.FAILED, Outcome.DONE], State.DONE, 0),
        ([Outcome.DONE, Outcome.REOPENED], State.OPEN, 0),
        ([Outcome.DROPPED], State.DROPPED, 0),
        ([Outcome.DONE, Outcome.LETTER], State.DONE, 0),
    ],
)
def test_an_items_state_is_the_last_word_of_its_notes(words: list[Outcome], state: State, failures: int) -> None:
    found = standings([note(second, "a", word) for second, word in enumerate(words)])["a"]
    assert (found.state, found.failures) == (state, failures)


def test_items_with_an_order_come_first_then_by_arrival() -> None:
    items = [Item("late", "L"), Item("early", "E"), Item("second", "S", order=2), Item("first", "F", order=-1.5)]
    assert [item.id for item in in_order(items, {"early": 0, "late": 1})] == ["first", "second", "early", "late"]


def test_the_next_item_is_the_first_open_one_whose_needs_are_done() -> None:
    items = [Item("a", "A", after=("b",)), Item("b", "B"), Item("c", "C")]
    assert next_item(items, {}) == items[1]
    assert next_item(items, {"b": Standing(State.DONE)}) == items[0]
    assert next_item(items, {"b": Standing(State.BLOCKED)}) == items[2]
    assert waiting_for(items[0], {}) == ("b",)


def test_circles_self_needs_and_unknown_ids_are_named() -> None:
    items = [Item("a", "A", after=("b",)), Item("b", "B", after=("c",)), Item("c", "C", after=("a", "c", "task-0"))]
    with pytest.raises(AgentctlError) as caught:
        check_links(items)
    assert "a -> b -> c -> a" in caught.value.message
    assert "c needs itself" in caught.value.message
    assert "c needs task-0, which is no item" in caught.value.message


def test_a_chain_of_5000_items_is_checked_without_recursion() -> None:
    check_links([Item(f"i{n}", "x", after=(f"i{n + 1}",) if n < 4999 else ()) for n in range(5000)])


@given(st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdef"), max_size=3), min_size=1))
def test_a_circle_is_found_exactly_when_items_cannot_be_put_in_order(after: dict[str, list[str]]) -> None:
    items = [Item(name, name, after=tuple(other for other in others if other in after)) for name, others in after.items()]
    done: set[str] = set()
    while ready := {item.id for item in items if item.id not in done and set(item.after) <= done}:
        done |= ready
    try:
        check_links(items)
        free = True
    except AgentctlError:
        free = False
    assert free == (len(done) == len(items))
