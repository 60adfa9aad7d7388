"""One key of a file's YAML head, or its title, changed in place: every other byte stays.

Dumping a person's YAML again would lose comments, quoting and order, so only the characters of the value are replaced;
PyYAML's marks say where they are. Afterwards the head is read again: what isn't meant must say what it said before.
"""

from __future__ import annotations

import re

import yaml

from agent.domain.frontmatter import BadFileError, Document, Head, broken, compose, split
from agent.domain.todo import title_and_text

_FENCE = re.compile(r"(?:---|\.\.\.)[ \t]*")


def set_key(text: str, key: str, value: str, path: str) -> str:
    """`text` with `key: value` in its head; `value` is YAML in one line, as it may stand in a list [ ]. A file without a head gets one.

    Everything but the key's own lines is the same, BOM, line ends and comments included. Raises BadFileError for a file that
    can't be read, and where the value can't be changed alone (an anchor that other keys refer to).
    """
    document = split(text, path)
    start, end = _span(text, document)
    if start == 0:
        bom, rest = _bom(text)
        line = _line_end(text)
        changed = f"{bom}---{line}{key}: {value}{line}---{line}{rest}"
    else:
        changed = text[:start] + _with_key(text[start:end], key, value, path) + text[end:]
    _refuse_other(changed, document.head, key, value, path)
    return changed


def set_title(text: str, title: str, path: str) -> str:
    """`text` with `title` (one tidy line) on its title's line, with or without the `#` that stands there. Raises BadFileError."""
    document = split(text, path)
    _, end = _span(text, document)
    start = end + len(_FENCE.match(text[end:])[0]) if end else len(_bom(text)[0])  # type: ignore[index]  # the head ends at its fence
    place = re.compile(r"[\r\n]*").match(text, start)
    first = place.end() if place else start
    last = re.compile(r"[^\r\n]*").match(text, first)
    line = last[0] if last else ""
    if not line.strip():
        before = text[:first] if first in (0, len(_bom(text)[0])) or text[first - 1] == "\n" else text[:first] + _line_end(text)
        return f"{before}# {title}{_line_end(text)}{text[first:]}"
    mark = re.match(r"\s*(?:# +|#$)?", line)
    for prefix in (mark[0] if mark else "", "# "):
        changed = f"{text[:first]}{prefix}{title}{text[first + len(line) :]}"
        if _title(changed, path) == title:
            return changed
    raise BadFileError(path, document.head_lines + 1, f"the title can't become {title!r}", "edit the file by hand")


def _title(text: str, path: str) -> str | None:
    try:
        return title_and_text(split(text, path).body)[0]
    except BadFileError:  # a title such as --- opens a head
        return None


def _bom(text: str) -> tuple[str, str]:
    return ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)


def _line_end(text: str) -> str:
    """The line end that the file's first line has."""
    first = text.partition("\n")[0]
    return "\r\n" if first.endswith("\r") else "\n"


def _span(text: str, document: Document) -> tuple[int, int]:
    """Where the head's lines begin and end in `text`, without the fences; (0, 0) where there is no head."""
    if not document.head_lines:
        return 0, 0
    start = text.index("\n") + 1
    end = start
    for _ in range(document.head_lines - 2):
        end = text.index("\n", end) + 1
    return start, end


def _compose(head: str, path: str) -> yaml.Node | None:
    """The nodes of a head with the places where they stand. This loader is stricter than the one that reads files: some tabs it refuses."""
    try:
        return compose(head, yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise broken(error, head, path, offset=1) from None


def _entry(node: yaml.Node | None, key: str) -> tuple[yaml.Node, yaml.Node] | None:
    entries = node.value if isinstance(node, yaml.MappingNode) else []
    return next(((name, value) for name, value in entries if name.value == key), None)


def _with_key(head: str, key: str, value: str, path: str) -> str:
    node = _compose(head, path)
    entry = _entry(node, key)
    if entry is not None:
        return _with_value(head, *entry, value)
    if isinstance(node, yaml.MappingNode) and node.flow_style:
        at = node.start_mark.index + 1
        return f"{head[:at]}{key}: {value}{', ' if node.value else ''}{head[at:]}"
    # At the very top, where no comment is parted from what it is about, and no block text can swallow the line.
    column = node.start_mark.column if isinstance(node, yaml.MappingNode) else 0
    return f"{' ' * column}{key}: {value}{_line_end(head)}{head}"


def _with_value(head: str, name: yaml.Node, old: yaml.Node, value: str) -> str:
    start, end = old.start_mark.index, _end(head, old)
    if old.start_mark.line == name.end_mark.line or isinstance(old, yaml.ScalarNode):
        blank = "" if head[start - 1 : start] in (" ", "\t") else " "
        return f"{head[:start]}{blank}{value}{head[end:]}"
    # A list below its key: the key's line keeps its comment, the lines below it go.
    colon = head.index(":", name.end_mark.index) + 1
    rest = head.index("\n", colon)
    return f"{head[:colon]} {value}{head[colon:rest]}{_to_line_end(head, end)}"


def _to_line_end(head: str, at: int) -> str:
    found = head.find("\n", at)
    return head[found:] if found >= 0 else ""


def _end(head: str, node: yaml.Node) -> int:
    """Where the node's last character stands: PyYAML's own mark of a block lies behind the blank lines and comments that follow."""
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        return len(head[: node.end_mark.index].rstrip())
    if not isinstance(node, yaml.CollectionNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end(head, last[1] if isinstance(last, tuple) else last)


def _refuse_other(changed: str, before: Head, key: str, value: str, path: str) -> None:
    """Raise BadFileError unless `changed` says `value` at `key` and of all other keys what they said `before`."""
    wanted = {name: yaml.serialize(node) for name, (_, node) in before.nodes.items() if name != key}
    if (node := _compose(value, path)) is not None:
        wanted[key] = yaml.serialize(node)
    try:
        head = split(changed, path).head
        now = {name: yaml.serialize(node) for name, (_, node) in head.nodes.items()}
    except BadFileError:
        now = {}
    if now != wanted:
        line = before.nodes[key][0].start_mark.line + 2 if key in before.nodes else 2
        raise BadFileError(path, int(line), f"{key} can't be changed here without touching what else the head says", "edit the file by hand")
