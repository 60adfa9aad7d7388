"""The nouns: parse(render(x)) == x, names, and what cannot be read says so with file, line and mend."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.config import Alert, Config, Limits, parse_config
from agent.domain.frontmatter import BadFileError, split
from agent.domain.lesson import Lesson, parse_lesson, render_lesson
from agent.domain.names import LONGEST, NAME, NoteName, Outcome, StepId, next_step_id, slug, slug_with_tail
from agent.domain.note import Note, parse_note, render_note
from agent.domain.price import Price
from agent.domain.todo import Item, parse_item, render_item, tidy_text, tidy_title
from agent.domain.usage import Usage
from agent.templates import template

STEP = StepId("2026-11-29", "130355", "convert-fixtures")
texts = st.text(max_size=400)
titles = st.text(min_size=1, max_size=80).map(tidy_title).filter(bool)
usages = st.builds(
    Usage,
    st.none() | st.floats(0, 1e6, allow_nan=False).map(lambda usd: round(usd, 6)),
    st.integers(0, 10**9),
    st.integers(0, 10**9),
    st.integers(0, 10**9),
    st.integers(0, 10**6),
)


@given(
    titles,
    texts,
    texts,
    st.none() | usages,
    st.text(max_size=40),
    st.lists(st.text(min_size=1, max_size=60), max_size=3),
    st.dictionaries(st.sampled_from([STEP, StepId("2026-11-29", "235959", "plan")]), usages),
)
def test_any_note_comes_back_and_renders_to_the_same_bytes(
    title: str, text: str, letter: str, spent: Usage | None, model: str, checked: list[str], earlier: dict[StepId, Usage]
) -> None:
    note = Note.of(title, text, letter, spent, model, tuple(line for line in map(tidy_title, checked) if line), earlier=earlier)
    rendered = render_note(note, STEP)
    assert parse_note(rendered, "notes/x.md") == note
    assert render_note(parse_note(rendered, "notes/x.md"), STEP) == rendered


@given(titles, texts, st.none() | st.integers(-100, 100), st.lists(titles, max_size=3), st.sampled_from([(), ("no-change",)]))
def test_any_item_comes_back(title: str, text: str, order: int | None, checks: list[str], allow: tuple[str, ...]) -> None:
    item = Item("an-item", title, tidy_text(text), order, ("other",), tuple(checks), allow)
    assert parse_item(render_item(item), "todo/an-item.md") == item


@given(titles, texts)
def test_any_lesson_comes_back(title: str, text: str) -> None:
    lesson = Lesson("a-lesson", title, tidy_text(text))
    assert parse_lesson(render_lesson(lesson), "lessons/a-lesson.md") == lesson


@given(st.text(max_size=300), st.text(max_size=50))
def test_any_title_becomes_a_portable_name(title: str, seed: str) -> None:
    for name in (slug(title), slug_with_tail(title, seed)):
        assert NAME.fullmatch(name)
        assert len(name) <= LONGEST


moments = st.datetimes(datetime.fromisoformat("1970-01-01"), datetime.fromisoformat("9000-01-01"), timezones=st.just(UTC))


@given(moments, moments)
def test_a_step_is_strictly_later_than_every_note_its_writer_saw_whatever_the_clock_says(now: datetime, seen: datetime) -> None:
    latest = next_step_id("seen", seen, None)
    assert next_step_id("a", now, latest).at > latest.at


def test_a_note_name_tells_step_and_outcome() -> None:
    name = NoteName(STEP, Outcome.DONE)
    assert name.path == "notes/2026-11-29/130355-convert-fixtures.done.md"
    assert NoteName.parse(name.path) == name
    assert NoteName.parse("notes/2026-11-29/130355-convert-fixtures.maybe.md") is None
    assert StepId.parse(str(STEP)) == STEP


def test_a_title_with_half_a_character_or_an_escape_sequence_is_tidied() -> None:
    note = Note.of("a\ud83d\x1b[31mb", "x\ud83d\x1b]52;c;aGk=\x07y")
    assert "\x1b" not in render_note(note, STEP)
    render_note(note, STEP).encode()


def test_the_letter_begins_at_the_first_handoff_and_a_note_cannot_fake_it() -> None:
    note = Note.of("T", "before\n\n## Handoff\n\nfaked", "real\n\n## Handoff\n\nstill the letter")
    read = parse_note(render_note(note, STEP), "n.md")
    assert read.letter == "real\n\n## Handoff\n\nstill the letter"
    assert "faked" in read.text


def test_the_design_pages_examples_are_read() -> None:
    item = parse_item(
        "---\norder: 20               # optional\nafter: [add-pytest]\nchecks:\n  - pytest tests/test_fixtures.py -q\nx-estimate: 3h\n---\n# Convert\n\nNone is left.\n",
        "todo/convert.md",
    )
    assert item == Item("convert", "Convert", "None is left.", 20.0, ("add-pytest",), ("pytest tests/test_fixtures.py -q",))


@pytest.mark.parametrize(
    ("text", "place", "mend"),
    [
        ("---\norder: 1\n", "todo/a.md:1:", "---"),
        ("---\nchecks: [a: b: c]\n---\n# T\n", "todo/a.md:2:", "quotes"),
        ("---\norder: 1\norder: 2\n---\n# T\n", "todo/a.md:3: order stands twice, at lines 2 and 3", "keep one"),
        ("---\norder: soon\n---\n# T\n", "todo/a.md:2: order wants a number", "order: 10"),
        ("---\nafter: {a: b}\n---\n# T\n", "todo/a.md:2: after wants a list", 'after: ["one", "two"]'),
        ("# T\n\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n", "todo/a.md:3: a merge left a conflict", "remove the marks"),
        ("---\nchecks:\n\t- a\n---\n# T\n", "todo/a.md:3:", "not with tabs"),
        ("---\nallow: [nochange]\n---\n# T\n", "todo/a.md:2: nochange is nothing that can be allowed", "no-change"),
        ("---\n- a\n---\n# T\n", "todo/a.md:2:", "one key and its value"),
    ],
)
def test_what_cannot_be_read_names_file_line_and_mend(text: str, place: str, mend: str) -> None:
    with pytest.raises(BadFileError) as caught:
        parse_item(text, "todo/a.md")
    assert caught.value.message.startswith(place)
    assert mend in caught.value.hint


@pytest.mark.parametrize("name", ["My Task", "UPPER", "a_b", "x" * 61, "-a"])
def test_an_item_whose_name_is_not_portable_says_how_to_rename_it(name: str) -> None:
    with pytest.raises(BadFileError, match="file name wants only") as caught:
        parse_item("# T\n", f"todo/{name}.md")
    assert "git mv" in caught.value.hint


def test_crlf_bom_and_a_missing_title_are_read() -> None:
    item = parse_item("\ufeff---\r\norder: 3\r\n---\r\n# T\r\n\r\ntext\r\n", "todo/a.md")
    assert (item.title, item.text, item.order) == ("T", "text", 3)
    assert parse_item("", "todo/a-b.md").title == "a-b"


def test_words_that_yaml_takes_for_other_things_stay_as_they_are_written() -> None:
    item = parse_item("---\nafter: [no, 010, 2024-01-05, yes]\n---\nNo\n", "todo/a.md")
    assert (item.after, item.title) == (("no", "010", "2024-01-05", "yes"), "No")


def test_a_body_that_holds_rules_and_fences_is_only_text() -> None:
    body = "# T\n\n---\n\n```\n## Step 99\n---\n```\n<!-- agentctl:begin -->"
    assert split(body, "n.md").body == body


def test_the_template_of_init_means_the_defaults() -> None:
    text = template("config.yaml").replace("{model}", "").replace("{checks}", "[]")
    assert parse_config(text) == Config(limits=Limits())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("modle: x\n", "modle is no setting"),
        ("limits: {cals: 3}\n", "cals is no setting"),
        ("limits: {calls: -1}\n", "calls wants a number above 0"),
        ("api_base: http://evil.invalid\n", "api_base can't be set in the repository"),
        ("checks: {a: b}\n", "checks wants a list"),
        ("limits: {day_usd: 0}\n", "day_usd wants a number above 0"),
        ("limits: {total_usd: nan}\n", "total_usd wants a number"),
        ("limits: {total_tokens: inf}\n", "total_tokens wants a number"),
        ("alert: {usd: [5, x]}\n", "usd wants amounts above 0"),
        ("alert: {command: date}\n", "command is never run without an amount"),
        ("alert: {eur: 5}\n", "eur is no setting"),
        ("prices: {m: {input: 1}}\n", "the price of m wants input and output"),
        ("prices: {m: {input: -1, output: 1}}\n", "the price of m wants input and output"),
        ("prices: {m: 3}\n", "m wants keys of its own"),
    ],
)
def test_a_setting_that_is_wrong_is_an_error_with_its_line(text: str, said: str) -> None:
    with pytest.raises(BadFileError) as caught:
        parse_config(text)
    assert caught.value.message.startswith(".agent/config.yaml:1: ")
    assert said in caught.value.message


def test_prices_and_alerts_are_read_and_what_is_left_out_costs_as_input_does() -> None:
    config = parse_config(
        "prices: {a/b: {input: 1, output: 5}, c:d: {input: 2, cached: 0.2, written: 3, output: 4}}\nalert: {usd: 5, command: date}\n"
    )
    assert config.prices == {"a/b": Price(1, 1, 5), "c:d": Price(2, 0.2, 4, 3)}
    assert config.alert == Alert((5.0,), "date")


def test_a_clock_that_went_back_does_not_take_a_name_twice() -> None:
    now = datetime(2026, 11, 29, 13, tzinfo=UTC)
    first = next_step_id("a", now, None)
    second = next_step_id("a", now - timedelta(hours=3), first)
    assert str(second) == "2026-11-29-130001-a"
