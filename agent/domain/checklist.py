"""A plan that a person wrote: a Markdown list or a YAML list, read as items."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

import yaml
from markdown_it import MarkdownIt
from msgspec import Struct
from msgspec.structs import replace

from agent.domain.frontmatter import BadFileError, Head, broken, compose, refuse_conflict, split
from agent.domain.todo import LONGEST_TITLE, NewItem, tidy_title, title_and_text, title_key

_MARKER = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)(?:\[(?P<box>[ xX]?)\](?:[ \t]+|$))?")
_CHECK = re.compile(r"[ \t]*(?:[-*+][ \t]+)?(?:(?P<all>`+)check:[ \t]*(?P<one>.+?)(?P=all)|check:[ \t]*(?P<ticks>`+)(?P<two>.+?)(?P=ticks))[ \t]*")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_KEYS = ("title", "text", "check", "checks", "after", "order", "allow")


class Checklist(Struct, frozen=True):
    """The items of a file in its order, and how many entries it says are done already."""

    items: tuple[NewItem, ...]
    ticked: int = 0


class _Found(Struct, frozen=True):
    line: int
    item: NewItem


def read_checklist(text: str, name: str) -> Checklist:
    """The items in `text`: YAML where `name` ends in .yaml or .yml, else Markdown.

    Markdown: each entry of an outermost list is an item, its first line the title, what stands below it the text; a line
    `check: CMD` in backticks is a check; ticked entries are left out. YAML: a list of titles, or of mappings with title, text, check,
    checks, after, order, allow. Raises BadFileError that names the line, also for a title that stands twice.
    """
    if name.lower().endswith((".yaml", ".yml")):
        entries, ticked = list(_yaml_entries(text, name)), 0
    else:
        entries, ticked = _markdown_entries(text, name)
    if not entries and not ticked:
        raise BadFileError(name, 1, "no entry of a list is in this file", "write one line for each item: - [ ] TITLE")
    _refuse_twins(entries, name)
    return Checklist(tuple(entry.item for entry in entries), ticked)


def _refuse_twins(entries: list[_Found], name: str) -> None:
    first: dict[str, int] = {}
    for entry in entries:
        before = first.setdefault(title_key(entry.item.title), entry.line)
        if before != entry.line:
            problem = f"{tidy_title(entry.item.title)!r} stands twice, at lines {before} and {entry.line}"
            raise BadFileError(name, entry.line, problem, "say in the titles what tells them apart, or take one out")


def _kept_whole(item: NewItem) -> NewItem:
    """The same; where its title is too long to be kept, it begins the text too."""
    whole = " ".join(item.title.split())
    return replace(item, text=f"{whole}\n\n{item.text}".strip("\n")) if len(whole) > LONGEST_TITLE else item


# --- Markdown ------------------------------------------------------------------------------------------------------


def _markdown_entries(text: str, name: str) -> tuple[list[_Found], int]:
    document = split(text, name)
    body = document.body.replace("\r", "\n")
    refuse_conflict(body, name, document.head_lines)
    lines = _at_margin(body.split("\n"))
    found: list[_Found] = []
    ticked = 0
    for token in MarkdownIt("commonmark").parse("\n".join(lines)):
        if token.type != "list_item_open" or token.level != 1 or token.map is None:
            continue
        first, end = token.map
        mark = _MARKER.match(lines[first])
        if mark and mark["box"] and mark["box"] in "xX":
            ticked += 1
            continue
        head = lines[first][mark.end() :] if mark else lines[first]
        entry = _markdown_item(head, lines[first + 1 : end])
        if entry is not None:
            found.append(_Found(first + 1 + document.head_lines, entry))
    return found, ticked


def _at_margin(lines: list[str]) -> list[str]:
    """`lines` without the blanks that stand before every entry: a list indented as a whole is no code."""
    margin = min((line[: len(line) - len(line.lstrip(" \t"))] for line in lines if _MARKER.match(line)), key=len, default="")
    return [line.removeprefix(margin) for line in lines]


def _markdown_item(head: str, below: list[str]) -> NewItem | None:
    """The item of an entry; None where it is empty, as the last one of a list that is being written."""
    kept, checks = _without_checks(below)
    title, text = title_and_text(f"{head.strip()}\n{textwrap.dedent(chr(10).join(kept))}")
    return _kept_whole(NewItem(title, text, tuple(checks))) if title else None


def _without_checks(lines: list[str]) -> tuple[list[str], list[str]]:
    kept: list[str] = []
    checks: list[str] = []
    fenced = False
    for line in lines:
        fenced ^= bool(_FENCE.match(line))
        check = None if fenced else _CHECK.fullmatch(line)
        if check:
            checks.append((check["one"] or check["two"]).strip())
        else:
            kept.append(line)
    return kept, checks


# --- YAML ----------------------------------------------------------------------------------------------------------


def _yaml_entries(text: str, name: str) -> Iterator[_Found]:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    refuse_conflict(text, name)
    try:
        root = compose(text)
    except yaml.YAMLError as error:
        raise broken(error, text, name) from None
    if root is None:
        return
    if not isinstance(root, yaml.SequenceNode):
        raise BadFileError(name, int(root.start_mark.line) + 1, "this wants a list of items", "begin each item with `- `: - title: TITLE")
    for node in root.value:
        yield _Found(int(node.start_mark.line) + 1, _yaml_item(node, name))


def _yaml_item(node: yaml.Node, name: str) -> NewItem:
    entry = Head(name, 0, {"title": (node, node)})
    if isinstance(node, yaml.ScalarNode):
        title = entry.text("title")
        head = Head(name, 0, {})
    elif isinstance(node, yaml.MappingNode):
        head = entry.section("title")
        _refuse_unknown(head)
        title = head.text("title")
    else:
        raise entry.bad("title", "an item is a title, or keys with their values", 'write - "TITLE", or - title: TITLE')
    if not title or not title_key(title):
        raise entry.bad("title", "an item wants a title", "write - title: TITLE")
    item = NewItem(
        title,
        head.text("text") or "",
        checks=(*head.texts("check"), *head.texts("checks")),
        after=head.texts("after"),
        order=head.number("order"),
        allow=head.texts("allow"),
    )
    return _kept_whole(item)


def _refuse_unknown(head: Head) -> None:
    for key in head.nodes:
        if key not in _KEYS:
            mend = f"the keys are {', '.join(_KEYS)}; a title that holds a colon wants double quotes around it"
            raise head.bad(key, f"{key!r} is no key of an item", mend)
