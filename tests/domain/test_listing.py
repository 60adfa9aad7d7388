from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.domain.listing import BadLineError, Changes, Row, read, render
from agent.domain.names import Outcome
from agent.domain.reorder import Slot, reorder
from agent.domain.todo import Item, NewItem, State, in_order

A, B, C = (Row(Item(name, f"Title of {name}"), State.OPEN) for name in "abc")
STUCK = Row(Item("stuck", "Stuck"), State.BLOCKED)
DONE = Row(Item("over", "Over", order=1), State.DONE)
GONE = Row(Item("gone", "Gone"), State.DROPPED)
ROWS = [DONE, A, B, STUCK, C, GONE]
OPEN = "open a Title of a\nopen b Title of b\nblocked stuck Stuck\nopen c Title of c\n"


def test_the_text_has_what_is_to_be_done_first_then_the_words_then_the_rest() -> None:
    lines = [line for line in render(ROWS).split("\n") if line and not line.startswith("#")]
    assert [line.split() for line in lines] == [
        ["open", "a", "Title", "of", "a"],
        ["open", "b", "Title", "of", "b"],
        ["blocked", "stuck", "Stuck"],
        ["open", "c", "Title", "of", "c"],
        ["done", "over", "Over"],
        ["dropped", "gone", "Gone"],
    ]


def test_the_text_as_it_was_changes_nothing() -> None:
    assert not read(render(ROWS), ROWS)
    assert not read("\ufeff" + render(ROWS).replace("\n", "\r\n"), ROWS)


@pytest.mark.parametrize("text", ["", "\n\n", "# open a Title of a\n"])
def test_an_empty_text_changes_nothing(text: str) -> None:
    assert read(text, ROWS) == Changes()


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ("done a", Outcome.DONE),
        ("drop b", Outcome.DROPPED),
        ("dropped b", Outcome.DROPPED),
        ("open stuck", Outcome.REOPENED),
        ("reopen stuck", Outcome.REOPENED),
    ],
)
def test_a_word_says_the_state_that_an_item_shall_have(line: str, outcome: Outcome) -> None:
    word, identity = line.split()
    text = "".join(f"{word} {row.split(' ', 1)[1]}" if row.split()[1] == identity else row for row in OPEN.splitlines(keepends=True))
    assert read(text, ROWS) == Changes(outcomes={identity: outcome})


def test_a_line_taken_out_drops_the_item_but_done_and_dropped_ones_stay() -> None:
    changes = read("open a Title of a\nopen c Title of c\n", ROWS)
    assert changes == Changes(outcomes={"b": Outcome.DROPPED, "stuck": Outcome.DROPPED}, gone=frozenset({"b", "stuck"}))


def test_an_item_opened_again_where_it_stood_gets_no_new_place() -> None:
    assert read(OPEN + "reopen over Over\nopen gone Gone\n", ROWS) == Changes(outcomes={"over": Outcome.REOPENED, "gone": Outcome.REOPENED})


def test_an_item_opened_again_and_moved_up_gets_its_place() -> None:
    changes = read("open a Title of a\nreopen over Over\n" + OPEN.split("\n", 1)[1], ROWS)
    assert changes == Changes(outcomes={"over": Outcome.REOPENED}, orders={"a": 0.5})


def test_titles_change_blanks_around_them_do_not_count() -> None:
    text = OPEN.replace("Title of a", "  Title of a  ").replace("Title of b", 'A "b": #1 $1 \\1').replace("open c ", "open\tc\t")
    assert read(text, ROWS) == Changes(titles={"b": 'A "b": #1 $1 \\1'})


def test_two_items_may_swap_their_titles() -> None:
    text = OPEN.replace("Title of a", "X").replace("Title of b", "Title of a").replace("X", "Title of b")
    assert read(text, ROWS).titles == {"a": "Title of b", "b": "Title of a"}


def test_a_title_with_control_characters_is_shown_safely_and_stays_as_it_is() -> None:
    rows = [Row(Item("odd", "a\x1b[31m\rb\u202e  c\td"), State.OPEN)]
    assert "\x1b" not in render(rows)
    assert read(render(rows), rows) == Changes()


def test_one_moved_item_without_an_order_gets_one_and_no_other_is_written() -> None:
    rows = [Row(Item(f"i{number:02}", f"T{number}"), State.OPEN) for number in range(50)]
    lines = render(rows).split("\n")
    assert read("\n".join([lines[40], *lines[:40], *lines[41:]]), rows) == Changes(orders={"i40": 10.0})


def test_one_moved_item_among_ordered_ones_gets_a_number_between() -> None:
    rows = [Row(Item(f"i{number}", f"T{number}", order=10.0 * number), State.OPEN) for number in range(1, 7)]
    lines = render(rows).split("\n")
    assert read("\n".join([lines[0], lines[5], *lines[1:5], *lines[6:]]), rows) == Changes(orders={"i6": 15.0})


def test_new_lines_are_new_items_where_they_stand() -> None:
    assert read("add First\n" + OPEN + "add Last\n", ROWS).added == (NewItem("First", order=10.0), NewItem("Last"))
    ordered = [replace(row, item=replace(row.item, order=10.0 * place)) for place, row in enumerate([A, B, C], 1)]
    changes = read("open a Title of a\nadd Between\nopen b Title of b\nopen c Title of c\nadd Z\nadd Y\n", ordered)
    assert changes == Changes(added=(NewItem("Between", order=15.0), NewItem("Z", order=40.0), NewItem("Y")))


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (OPEN + "opne a Title", 5, "'opne' is no word"),
        (OPEN + "\ndone over\n", 6, "the title is missing"),
        (OPEN + "open d Title", 5, "'d' is no item"),
        ("open strck Stuck\n", 1, "'strck' is no item"),
        (OPEN + "open a Title of a\n", 5, "a stands at line 1 already"),
        ("# x\nblocked a Title of a\n", 2, "only a step's question blocks an item"),
        (OPEN + "add\n", 5, "the title is missing"),
        (OPEN + "open\n", 5, "the item's id is missing"),
        (OPEN + "add title  OF a\n", 5, "a has that title"),
        (OPEN + "add New\nadd new\n", 6, "line 5 has that title"),
        (OPEN.replace("Title of b", "Over"), 2, "over has that title"),
        (OPEN + f"add {'x' * 201}\n", 5, "longer than 200"),
    ],
)
def test_a_line_that_cannot_be_meant_is_named_with_its_number(text: str, line: int, said: str) -> None:
    with pytest.raises(BadLineError) as caught:
        read(text, ROWS)
    assert caught.value.line == line
    assert said in caught.value.message
    assert caught.value.hint


ORDERS = st.one_of(st.none(), st.integers(-3, 8).map(float), st.floats(-100, 100, allow_nan=False).map(lambda number: round(number, 2)))


@given(st.lists(ORDERS, max_size=9).flatmap(lambda orders: st.tuples(st.just(orders), st.permutations(range(len(orders))))))
def test_any_sequence_is_reached_by_writing_orders(drawn: tuple[list[float | None], list[int]]) -> None:
    orders, wanted = drawn
    arrival = {f"i{number}": number for number in range(len(orders))}
    items = in_order([Item(f"i{number}", "T", order=order) for number, order in enumerate(orders)], arrival)
    sequence = [items[place] for place in wanted]
    ranks = {item.id: place for place, item in enumerate(items)}
    numbers = reorder([Slot(item.order, (ranks[item.id], "")) for item in sequence])
    changed = [replace(item, order=numbers.get(place, item.order)) for place, item in enumerate(sequence)]
    assert [item.id for item in in_order(reversed(changed), arrival)] == [item.id for item in sequence]
    if list(wanted) == sorted(wanted):
        assert numbers == {}


@given(st.permutations(range(12)))
def test_no_more_items_are_written_than_stand_outside_a_longest_rising_run(wanted: list[int]) -> None:
    longest = [1] * len(wanted)
    for place, order in enumerate(wanted):
        longest[place] = 1 + max((longest[before] for before in range(place) if wanted[before] < order), default=0)
    numbers = reorder([Slot(1000.0 * order, (order, "")) for order in wanted])
    assert len(numbers) == len(wanted) - max(longest)


WORDS = st.sampled_from(["open", "done", "drop", "add", "blocked", "a", "b", "c", "over", "Title", "of", "#", "\t", "\n", "\n", "x"])


@given(st.lists(WORDS, max_size=30).map(" ".join))
def test_no_text_fails_in_another_way_than_by_naming_a_line(text: str) -> None:
    changes = Changes()
    with contextlib.suppress(BadLineError):
        changes = read(text, ROWS)
    assert changes.touched <= {row.item.id for row in ROWS}
    assert all(item.title for item in changes.added)
