from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.frontmatter import BadFileError, dump, split
from agent.domain.headedit import set_key, set_title
from agent.domain.todo import parse_item

PATH = "todo/a.md"
RICH = """\
---
# owner: see CODEOWNERS

x-estimate: 3h   # keep
after:   # these first
  - "b"
  # and this
  - 'c'

# the place
order:   20  # do this first!
links: ["https://example.invalid/1"]
note: |
  two

  lines

naïve: {a: 1, b: [2, 3]}
---

# Title

Text – with ---
---
"""


def numstat(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines that only one of the two has."""
    old, new = before.split("\n"), after.split("\n")
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return old, new


def test_a_value_changes_alone_and_its_comment_stays() -> None:
    assert numstat(RICH, set_key(RICH, "order", "7.5", PATH)) == (["order:   20  # do this first!"], ["order:   7.5  # do this first!"])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_line_ends_and_a_byte_order_mark_stay(bom: str, end: str) -> None:
    text = bom + RICH.replace("\n", end)
    assert set_key(text, "order", "7", PATH) == text.replace("order:   20", "order:   7")
    assert set_key(text, "new", "7", PATH) == text.replace(f"---{end}", f"---{end}new: 7{end}", 1)
    assert set_title(text, "Other", PATH) == text.replace("# Title", "# Other")


def test_a_list_below_its_key_becomes_one_line_and_what_stands_around_it_stays() -> None:
    old, new = numstat(RICH, set_key(RICH, "after", "[d]", PATH))
    assert old == ["after:   # these first", '  - "b"', "  # and this", "  - 'c'"]
    assert new == ["after: [d]   # these first"]


def test_a_block_text_is_replaced_without_the_blank_lines_below_it() -> None:
    assert numstat(RICH, set_key(RICH, "note", "one", PATH)) == (["note: |", "  two", "", "  lines"], ["note: one"])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_a_file_without_a_head_gets_one_with_its_own_line_ends(bom: str, end: str) -> None:
    text = f"{bom}# Title{end}{end}Text"
    assert set_key(text, "order", "10", PATH) == f"{bom}---{end}order: 10{end}---{end}# Title{end}{end}Text"


@pytest.mark.parametrize(
    ("head", "changed"),
    [
        ("", "order: 5\n"),
        ("# only a comment\n", "order: 5\n# only a comment\n"),
        ("{}\n", "{order: 5}\n"),
        ("{after: [b], }\n", "{order: 5, after: [b], }\n"),
        ("{after: [b], order: 1}\n", "{after: [b], order: 5}\n"),
        ("  after: b\n", "  order: 5\n  after: b\n"),
        ("order:\n", "order: 5\n"),
        ("order: # none yet\n", "order: 5 # none yet\n"),
        ("order: ~\n", "order: 5\n"),
        ("? order\n: 1\nafter: b\n", "? order\n: 5\nafter: b\n"),
        ("\"order\": '1'\n", '"order": 5\n'),
        ("order: !!int 1\n", "order: 5\n"),
        ("order: >-\n  1\n\n# end\n", "order: 5\n\n# end\n"),
    ],
)
def test_a_head_in_any_style_is_edited_where_the_value_stands(head: str, changed: str) -> None:
    assert set_key(f"---\n{head}---\n# T\n", "order", "5", PATH) == f"---\n{changed}---\n# T\n"


@pytest.mark.parametrize("head", ["order: &a 5\nx: *a\n", "x: &a 5\norder: *a\n"])
def test_a_value_that_others_refer_to_is_refused_with_its_line(head: str) -> None:
    with pytest.raises(BadFileError, match=r"todo/a\.md:\d: order can't be changed"):
        set_key(f"---\n{head}---\n# T\n", "order", "7", PATH)


def test_a_broken_head_is_named_with_its_line() -> None:
    with pytest.raises(BadFileError, match=r"todo/a\.md:3: order stands twice"):
        set_key("---\norder: 1\norder: 2\n---\n# T\n", "order", "7", PATH)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("# Old\n", "# New\n"),
        ("\n\n  #   Old  \n\ntext\n", "\n\n  #   New\n\ntext\n"),
        ("Old", "New"),
        ("---\norder: 1\n---\nOld\ntext\n", "---\norder: 1\n---\nNew\ntext\n"),
        ("", "# New\n"),
        ("---\norder: 1\n---", "---\norder: 1\n---\n# New\n"),
        ("#\n", "# New\n"),
        ("## Old\n", "## New\n"),
    ],
)
def test_a_title_changes_on_its_line(text: str, changed: str) -> None:
    title = "## New" if text.startswith("## ") else "New"
    assert set_title(text, title, PATH) == changed
    assert parse_item(changed, PATH).title == title


def test_a_title_that_would_open_a_head_gets_its_mark() -> None:
    assert set_title("Old\ntext\n", "---", PATH) == "# ---\ntext\n"


KEYS = st.sampled_from(["a", "b", "order", "x-y", "naïve"])
SCALARS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12), st.integers(-99, 99), st.none(), st.booleans()
)
VALUES = st.recursive(SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=2)), max_leaves=5)


@st.composite
def heads(draw: st.DrawFn) -> str:
    """A head as people write it: several styles, comments and blank lines between."""
    entries = draw(st.dictionaries(KEYS, VALUES, max_size=4))
    if draw(st.booleans()):
        return yaml.safe_dump(entries, default_flow_style=True, allow_unicode=True, width=20)
    lines: list[str] = []
    for key, value in entries.items():
        lines += draw(st.lists(st.sampled_from(["", "# a comment", "  # indented: [comment"]), max_size=2))
        block = yaml.safe_dump({key: value}, default_flow_style=False, allow_unicode=True, width=20)
        lines += draw(st.sampled_from([block, f"{key}: {dump(value)}\n"])).rstrip("\n").split("\n")
    lines += draw(st.lists(st.sampled_from(["", "# the end"]), max_size=2))
    return "".join(f"{line}\n" for line in lines)


@given(head=heads(), key=KEYS, value=SCALARS, crlf=st.booleans(), bom=st.booleans(), body=st.sampled_from(["", "# T\n", "\n\n# T\n\n---\nx: y\n"]))
def test_any_edit_says_the_new_value_and_leaves_every_other_line(*, head: str, key: str, value: object, crlf: bool, bom: bool, body: str) -> None:
    text = f"---\n{head}---\n{body}"
    text = ("\ufeff" if bom else "") + (text.replace("\n", "\r\n") if crlf else text)
    before = split(text, PATH)
    written = dump([value])[1:-1]
    changed = set_key(text, key, written, PATH)
    after = split(changed, PATH)
    assert after.body == before.body
    old, new = numstat(text, changed)
    assert len(new) <= 1
    if key not in before.head.nodes:
        assert old == [] or old[0].startswith("{")
    assert yaml.safe_load(dump({key: value})) == {key: yaml.safe_load(yaml.serialize(after.head.nodes[key][1]))}
    assert set_key(changed, key, written, PATH) == changed
    assert ("\n" in changed.replace("\r\n", "")) is not crlf


def test_a_head_that_only_the_quicker_loader_reads_is_refused_in_words() -> None:
    with pytest.raises(BadFileError, match=r"a\.md:2: ") as caught:
        set_key("---\norder\t: 52\n---\n# T\n", "order", "5", "a.md")
    assert caught.value.hint
