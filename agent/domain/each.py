"""One item for each of many paths, from one template."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from msgspec.structs import replace

from agent.domain.names import tail
from agent.domain.todo import LONGEST_TITLE, NewItem, tidy_title, title_key

_PLACE = re.compile(r"\{(path|name|stem)\}")
_QUOTED_PLACE = re.compile(r"(['\"]?)\{(path|name|stem)\}\1")
_WILD = re.compile(r"[*?\[]")


def items_for(paths: Sequence[str], glob: str, template: NewItem) -> list[NewItem]:
    """`template` for each of `paths`, which `glob` matched, with {path}, {name} (of the file) and {stem} (without its ending) put in.

    All else stays as it is, other braces too. In a check they are quoted for the shell. A title that may not tell two of the
    glob's paths apart gets its path added; it follows from template, glob and path, so that a second run meets the same titles.
    """
    told = _tells_apart(template.title, glob)
    items = [_filled(template, path, told=told) for path in paths]
    often = Counter(title_key(item.title) for item in items)
    return [
        item if often[title_key(item.title)] == 1 and len(item.title) <= LONGEST_TITLE else _with_tail(item, path)
        for item, path in zip(items, paths, strict=True)
    ]


def _filled(template: NewItem, path: str, *, told: bool) -> NewItem:
    pure = PurePosixPath(path)
    words = {"path": path, "name": pure.name, "stem": pure.stem}
    title = _put(template.title, words)
    return replace(
        template,
        title=" ".join((title if told else f"{title} ({path})").split()),
        text=_put(template.text, words),
        checks=tuple(_put_quoted(check, words) for check in template.checks),
    )


def _put(text: str, words: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda match: words[match[1]], text)


def _put_quoted(command: str, words: Mapping[str, str]) -> str:
    """Quoted for the shell, in place of quotes that stand around; a leading `-` is no option."""
    return _QUOTED_PLACE.sub(lambda match: shlex.quote(f"./{words[match[2]]}" if words[match[2]].startswith("-") else words[match[2]]), command)


def _tells_apart(title: str, glob: str) -> bool:
    """Whether the title differs for any two paths that the glob can match."""
    folder, _, last = glob.rpartition("/")
    one_folder = bool(_WILD.search(last)) and not _WILD.search(folder) and "**" not in last
    one_ending = "." in last and not _WILD.search(last[last.rindex(".") :])
    return "{path}" in title or (one_folder and ("{name}" in title or ("{stem}" in title and one_ending)))


def _with_tail(item: NewItem, path: str) -> NewItem:
    """For titles that differ only in case or blanks, or behind the place where they would be cut."""
    return replace(item, title=f"{tidy_title(item.title)[: LONGEST_TITLE - 5].rstrip()} {tail(path)}")
