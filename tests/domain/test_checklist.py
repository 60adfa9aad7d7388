from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.checklist import read_checklist
from agent.domain.frontmatter import BadFileError
from agent.domain.todo import NewItem, tidy_title, title_key

MARKDOWN = """\
# What is left

Some words.

- [ ] First: "a" #1 costs $15,000 \\1 \\g<0> %s {0} {path}
    deeper
  a paragraph

  ```
  - [ ] no item
  `check: no check`
  ```
  `check: pytest -q  "a  b"`
  - ``check: echo `x` ``
  check: `sh check.sh`
* [x] done before
  with text
+ [X] done too

1. one
2) two
   - [ ] part of two
- plain
- [ ]
-
  on the next line

> - [ ] quoted

```
- [ ] code
```
<!--
- [ ] a comment
-->
"""


def test_each_outermost_entry_is_an_item_in_the_order_of_the_file() -> None:
    found = read_checklist(MARKDOWN, "plan.md")
    assert [item.title for item in found.items] == [
        'First: "a" #1 costs $15,000 \\1 \\g<0> %s {0} {path}', "one", "two", "plain", "on the next line"
    ]  # fmt: skip
    assert found.ticked == 2


def test_what_stands_below_an_entry_is_its_text_and_its_checks() -> None:
    first, _, two, *_ = read_checklist(MARKDOWN, "plan.md").items
    assert first.text == "  deeper\na paragraph\n\n```\n- [ ] no item\n`check: no check`\n```"
    assert first.checks == ('pytest -q  "a  b"', "echo `x`", "sh check.sh")
    assert two == NewItem("two", "- [ ] part of two")


@pytest.mark.parametrize("change", [lambda text: text.replace("\n", "\r\n"), lambda text: "\ufeff" + text, lambda text: f"---\nx: [a]\n---\n{text}"])
def test_line_ends_a_byte_order_mark_and_a_head_make_no_difference(change: object) -> None:
    assert callable(change)
    assert read_checklist(change(MARKDOWN), "plan.md") == read_checklist(MARKDOWN, "plan.md")


@pytest.mark.parametrize("margin", ["", "  ", "    ", "\t"])
def test_a_list_that_is_indented_as_a_whole_is_a_list(margin: str) -> None:
    text = "Steps:\n" + "".join(f"{margin}{line}\n" for line in ("- [ ] a", "  more", "- [ ] b"))
    assert read_checklist(text, "plan.md").items == (NewItem("a", "more"), NewItem("b"))


def test_a_title_too_long_to_be_kept_whole_begins_the_text() -> None:
    title = "word " * 60
    (item,) = read_checklist(f"- {title}\n  more\n", "plan.md").items
    assert item.text == f"{title.strip()}\n\nmore"


def test_a_yaml_list_holds_titles_and_mappings_and_words_stay_words() -> None:
    text = """\
- No
- 010
- title: on
  check: pytest -q
  checks: [make a, "make: b"]
  after: [No, "010"]
  order: 5
  allow: no-change
  text: |
    two

    lines
"""
    assert read_checklist(text, "plan.yaml").items == (
        NewItem("No"),
        NewItem("010"),
        NewItem("on", "two\n\nlines\n", ("pytest -q", "make a", "make: b"), ("No", "010"), 5.0, ("no-change",)),
    )


@pytest.mark.parametrize(
    ("text", "said", "mend"),
    [
        ("- a\n- title: Fix: make add() add\n", "plan.yaml:2: this is not YAML", "double quotes"),
        ("- a\n- Fix: make add() add\n", "plan.yaml:2: 'Fix' is no key", "double quotes"),
        ("- title: a\n  dne: b\n", "plan.yaml:2: 'dne' is no key", "title, text, check"),
        ("- title: a\n  title: b\n", "plan.yaml:2: title stands twice, at lines 1 and 2", "keep one"),
        ("- a\n\n- b\n-  A\n", "plan.yaml:4: 'A' stands twice, at lines 1 and 4", "tells them apart"),
        ("- title: 'an issue's end'\n", "plan.yaml:1: this is not YAML", "double quotes"),
        ("- title:\n  text: x\n", "plan.yaml:1: an item wants a title", "title: TITLE"),
        ("- title: [a]\n", "plan.yaml:1: title wants one value", "title: VALUE"),
        ("- title: a\n  order: soon\n", "plan.yaml:2: order wants a number", "order: 10"),
        ("- [a]\n", "plan.yaml:1: an item is a title", "title: TITLE"),
        ("items:\n- a\n", "plan.yaml:1: this wants a list", "- title"),
        ("- title: a\n\ttext: b\n", "plan.yaml:2: this is not YAML", "spaces"),
        ("- a\n<<<<<<< HEAD\n- b\n", "plan.yaml:2: a merge left a conflict", "commit"),
        ("", "plan.yaml:1: no entry", "- [ ] TITLE"),
    ],
)
def test_what_is_wrong_with_a_yaml_list_is_named_with_line_and_mend(text: str, said: str, mend: str) -> None:
    with pytest.raises(BadFileError) as caught:
        read_checklist(text, "plan.yaml")
    assert caught.value.message.startswith(said)
    assert mend in caught.value.hint


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("---\nx: y\n---\n\n- a\n\n## Part\n\n* [ ] A\n", "plan.md:9: 'A' stands twice, at lines 5 and 9"),
        ("Nothing but words.\n", "plan.md:1: no entry"),
        ("- a\n<<<<<<< HEAD\n- b\n=======\n- c\n>>>>>>> side\n", "plan.md:2: a merge left a conflict"),
    ],
)
def test_what_is_wrong_with_a_checklist_is_named_with_its_line(text: str, said: str) -> None:
    with pytest.raises(BadFileError) as caught:
        read_checklist(text, "plan.md")
    assert caught.value.message.startswith(said)


def test_a_list_with_every_box_ticked_has_nothing_left() -> None:
    assert read_checklist("- [x] a\n- [X] b\n", "plan.md") == read_checklist("1. [x] c\n2. [x] d\n", "plan.md")
    assert read_checklist("- [x] a\n", "plan.md").ticked == 1


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1).map(tidy_title).filter(bool), unique_by=title_key, max_size=6
    )
)
def test_any_titles_come_through_both_kinds_of_file(titles: list[str]) -> None:
    quoted = "".join(f"- {_double_quoted(title)}\n" for title in titles) or "[]"
    boxes = "".join(f"- [ ] {title}\n" for title in titles)
    if titles:
        assert [tidy_title(item.title) for item in read_checklist(quoted, "p.yml").items] == titles
        assert [tidy_title(item.title) for item in read_checklist(boxes, "p.md").items] == titles


def _double_quoted(text: str) -> str:
    return '"' + "".join(f"\\U{ord(char):08x}" if not char.isalnum() else char for char in text) + '"'


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"])), st.sampled_from(["p.md", "p.yaml"]))
def test_no_text_fails_in_another_way_than_by_naming_a_line(text: str, name: str) -> None:
    with contextlib.suppress(BadFileError):
        read_checklist(text, name)
