"""Every parser of texts: how a valid one comes about, how it is read, and how what was read is written again."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from msgspec import to_builtins

from agent.domain.checklist import read_checklist
from agent.domain.config import parse_config
from agent.domain.frontmatter import split
from agent.domain.headedit import set_key, set_title
from agent.domain.lesson import Lesson, parse_lesson, render_lesson
from agent.domain.listing import Row, read, render
from agent.domain.message import reason_of, step_message, steps_in, told_in, without_trailers
from agent.domain.names import NoteName, Outcome, StepId
from agent.domain.note import Note, parse_note, render_note
from agent.domain.progress import Progress, Proposed, Remembered, Unfinished, parse_unfinished, render_unfinished, told_as_resumed
from agent.domain.todo import Item, State, parse_item, render_item, tidy_text, tidy_title
from agent.domain.usage import Usage
from agent.gate.formats.junit import read_junit
from agent.gate.runners import failing_part, nothing_ran, summary, tally
from agent.gate.weakened.lines import GO, JAVASCRIPT, JVM, RUST, reader
from agent.gate.weakened.python import read_python
from agent.templates import template

STEP = StepId("2026-11-29", "130355", "convert-fixtures")
OUTPUTS = Path(__file__).parents[1] / "gate" / "outputs"


@dataclass(frozen=True)
class Parser:
    """`read` gives a value, or raises AgentctlError; `write` is what gives the value back when it is read again, None where nothing is."""

    name: str
    valid: st.SearchStrategy[bytes]
    read: Callable[[str], object]
    write: Callable[[Any], str] | None = None


texts = st.text(max_size=60).map(tidy_text)
lines = st.text(max_size=40).map(tidy_title)
titles = lines.filter(bool)
ids = st.sampled_from(["one", "an-item", "convert-fixtures", "x" * 60])
counts = st.integers(0, 10**9)
usages = st.builds(Usage, st.none() | st.floats(0, 1e6, allow_nan=False), counts, counts, counts, st.integers(0, 10**6))
items = st.builds(
    Item, st.just("an-item"), titles, texts, st.none() | st.integers(-99, 99), st.lists(ids, max_size=2).map(tuple),
    st.lists(titles, max_size=2).map(tuple), st.sampled_from([(), ("no-change",), ("weaker-tests", "still-red")]),
)  # fmt: skip
notes = st.builds(Note.of, titles, texts, texts, st.none() | usages, lines, st.lists(titles, max_size=2).map(tuple), st.sampled_from(["", "none"]))
outcomes = st.sampled_from([Outcome.DONE, Outcome.FAILED, Outcome.BLOCKED])
progresses = st.builds(
    Progress, st.integers(0, 99), usages, st.lists(st.builds(Remembered, titles, texts), max_size=2).map(tuple),
    st.lists(st.builds(Proposed, titles, texts, lines), max_size=2).map(tuple), st.lists(lines, max_size=3).map(tuple), lines,
)  # fmt: skip
unfinished = st.builds(
    Unfinished,
    st.just(str(STEP)),
    ids,
    progresses,
    st.lists(lines, max_size=2).map(tuple),
    st.dictionaries(lines, st.just("a" * 40), max_size=2),
    st.dictionaries(ids, usages, max_size=2),
)

CONFIGS = (
    template("config.yaml").replace("{model}", "openai/gpt-5").replace("{checks}", "[pytest -q, 'sh check.sh']"),
    "model: a/b\nchecks: [x]\nsetup: [npm ci]\nbrief_tokens: 9000\nlimits: {calls: 3, usd: 1.5, minutes: 5, attempts: 2, lines: 9, file_bytes: 9, check_minutes: 1, day_usd: 3}\n",
    "limits:\n  day_tokens: 5000000\n  total_usd: 200\nalert: {usd: [5, 20], command: date}\nprices:\n  a/b: {input: 1.0, cached: 0.1, output: 5.0, written: 2}\n",
    "transcripts: encrypted\nrecipients: [age1xyz]\npush_wip: origin\n",
    "sandbox:\n  kind: auto\n  network: [npm ci]\n  read: [~/x]\n  write: [/srv]\n  env: [A]\n  processes: 200\n  file_bytes: 1000\n  memory_bytes: 1000000\n",
    "sandbox: none\n",
)
CHECKLISTS = (
    "# Plan\n\n- [ ] One\n  text\n  `check: make`\n- [x] Two\n- Three\n\n  ```\n  code\n  ```\n1. Four\n   - inner\n",
    "---\norder: 3\n---\n* One `check: a`\n* check: ``b``\n",
)
YAML_LISTS = ("- One\n- title: Two\n  text: |\n    words\n  check: make\n  checks: [a, b]\n  after: [One]\n  order: 3\n  allow: [no-change]\n",)
PYTHON = (
    "import pytest\n\n@pytest.mark.skip\ndef test_a():\n    assert 1 + 1 == 2, 'x'\n\nclass T:\n    def test_b(self):\n        self.assertEqual(f(1), 2)\n        with pytest.raises(E):\n            pass\n",
)
OTHERS = (
    "test('a', () => { expect(f(1)).toBe(2) })\nit.skip('b', () => {})\n",
    "func TestA(t *testing.T) {\n\tt.Fatal(1)\n\tt.Skip()\n}\n",
    "#[test]\n#[ignore]\nfn a() { assert_eq!(1, 1); }\n",
    "@Disabled\npublic void testA() { assertEquals(1, f()); }\n",
)
JUNIT = (
    '<?xml version="1.0"?><testsuites><testsuite tests="2"><testcase classname="a.b" name="c"/><testcase name="d"><failure/></testcase></testsuite></testsuites>',
)


def _one_of(*valid: str) -> st.SearchStrategy[bytes]:
    return st.sampled_from([text.encode() for text in valid])


def _rendered(values: st.SearchStrategy[Any], render: Callable[[Any], str]) -> st.SearchStrategy[bytes]:
    return values.map(lambda value: render(value).encode("utf-8", "replace"))


def _all_of_message(text: str) -> object:
    for told in told_in(text):
        if told.usage is not None:
            usage = told.usage
            assert all(0 <= number < math.inf for number in (usage.usd or 0.0, usage.input, usage.cached, usage.output))
    return told_in(text), steps_in(text), reason_of(text), without_trailers(text)


def _edited(text: str) -> object:
    """A key changed or added, and the title, in a file as a person left it: what isn't meant says what it said."""
    before = {key: value for key, value in _scalars(text).items() if key != "order"}
    changed = set_key(text, "order", "5", "todo/an-item.md")
    assert {key: value for key, value in _scalars(changed).items() if key != "order"} == before
    return set_title(text, "Another title", "todo/an-item.md")


def _scalars(text: str) -> dict[str, str]:
    return {key: str(value.value) for key, (_, value) in split(text, "todo/an-item.md").head.nodes.items() if isinstance(value.value, str)}


ROWS = tuple(Row(Item(f"item-{n}", f"Title {n}", order=n if n % 2 else None), state) for n, state in enumerate([*State, State.OPEN]))


def _unfinished(text: str) -> object:
    value = parse_unfinished(text)
    return value and (value, told_as_resumed(value, {"a": "M"}))


def _output(text: str) -> object:
    told = tally(text)
    assert len(summary(text, 1, 0.1)) <= 200
    return told, nothing_ran(text, 1), failing_part(text, 600), json.dumps(to_builtins(told.counts))


def _names(text: str) -> object:
    step, note = StepId.parse(text), NoteName.parse(text)
    assert step is None or (step == text and step.at.year > 0)
    assert note is None or (text.endswith(note.path) and note.step.at.year > 0)
    return step, note


PARSERS = (
    Parser("item", _rendered(items, render_item), lambda text: parse_item(text, "todo/an-item.md"), render_item),
    Parser(
        "note",
        _rendered(notes, lambda note: render_note(note, STEP)),
        lambda text: parse_note(text, "notes/x.md"),
        lambda note: render_note(note, STEP),
    ),
    Parser("lesson", _rendered(st.builds(Lesson, st.just("a"), titles, texts), render_lesson), lambda text: parse_lesson(text, "lessons/a.md")),
    Parser("config", _one_of(*CONFIGS), parse_config),
    Parser("edits of a head", _rendered(items, render_item), _edited),
    Parser("checklist", _one_of(*CHECKLISTS), lambda text: read_checklist(text, "plan.md")),
    Parser("YAML list", _one_of(*YAML_LISTS), lambda text: read_checklist(text, "plan.yaml")),
    Parser("edited list", _one_of(render(ROWS)), lambda text: read(text, ROWS)),
    Parser("commit message", _rendered(st.tuples(notes, outcomes), lambda pair: step_message(STEP, *pair)), _all_of_message),
    Parser("unfinished work", _rendered(unfinished, render_unfinished), _unfinished),
    Parser("names", _one_of(str(STEP), NoteName(STEP, Outcome.DONE).path), _names),
    Parser("output of a check", st.sampled_from(sorted(OUTPUTS.glob("*.txt"))).map(Path.read_bytes), _output),
    Parser("JUnit report", _one_of(*JUNIT), lambda text: read_junit([text.encode("utf-8", "surrogatepass")])),
    Parser("Python tests", _one_of(*PYTHON), read_python),
    *(Parser(f"tests, {n}", _one_of(*OTHERS), reader(language)) for n, language in enumerate((JAVASCRIPT, GO, RUST, JVM))),
)
