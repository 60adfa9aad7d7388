"""A YAML head between `---` lines and a Markdown body, read strictly and edited without loss."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import yaml
from msgspec import Struct

from agent.domain.shape import LARGEST
from agent.domain.text import one_line
from agent.errors import AgentctlError

_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SHOWN = 300  # columns of what a message quotes
_DEEPEST = 60  # nodes in each other
_MOST = 100_000  # nodes of a file whose aliases are written out
_LINE_END = re.compile(r"(?<!\r)\r+\n")  # more than one where a program converted twice
_CONFLICT = re.compile(r"^(<{7} |>{7} )", re.MULTILINE)


class BadFileError(AgentctlError):
    """A file of `.agent/` that cannot be read as it stands: names file and line, and the mend."""

    def __init__(self, path: str, line: int, problem: str, mend: str) -> None:
        super().__init__(f"{one_line(path, _SHOWN)}:{line}: {one_line(problem, _SHOWN)}", mend)
        self.path = path
        self.line = line


class Head(Struct, frozen=True):
    """The keys of a YAML mapping with the places where they stand; `path` and `offset` (lines above it) serve messages."""

    path: str
    offset: int
    nodes: Mapping[str, tuple[yaml.Node, yaml.Node]]

    def bad(self, key: str, problem: str, mend: str) -> BadFileError:
        """An error at the line of `key`."""
        return BadFileError(self.path, self._line(self.nodes[key][1]), problem, mend)

    def _line(self, node: yaml.Node) -> int:
        return int(node.start_mark.line) + 1 + self.offset

    def text(self, key: str) -> str | None:
        """The scalar at `key` as it is written (`No` stays `No`), None where it is absent or empty."""
        if key not in self.nodes:
            return None
        node = self.nodes[key][1]
        if not isinstance(node, yaml.ScalarNode):
            raise self.bad(key, f"{key} wants one value", f"write {key}: VALUE")
        return _scalar(node)

    def is_text(self, key: str) -> bool:
        """Whether one value stands at `key`, and not a list or keys of its own."""
        return key in self.nodes and isinstance(self.nodes[key][1], yaml.ScalarNode) and self.text(key) is not None

    def number(self, key: str) -> float | None:
        """The number at `key`, None where it is absent or empty."""
        text = self.text(key)
        if text is None:
            return None
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not -LARGEST < number < LARGEST:
            raise self.bad(key, f"{key} wants a number, not {text!r}", f"write {key}: 10")
        return number

    def texts(self, key: str) -> tuple[str, ...]:
        """The list of scalars at `key`, as they are written; a single one counts as a list of one."""
        if key not in self.nodes:
            return ()
        node = self.nodes[key][1]
        if isinstance(node, yaml.ScalarNode):
            only = _scalar(node)
            return () if only is None else (only,)
        if not isinstance(node, yaml.SequenceNode) or not all(isinstance(entry, yaml.ScalarNode) for entry in node.value):
            raise self.bad(key, f"{key} wants a list of texts", f'write {key}: ["one", "two"], and quote a text that holds a colon')
        return tuple(entry.value for entry in node.value)

    def section(self, key: str) -> Head:
        """The mapping at `key`; empty where it is absent."""
        if key not in self.nodes or _scalar_or_none(self.nodes[key][1]) is None:
            return Head(self.path, self.offset, {})
        node = self.nodes[key][1]
        if not isinstance(node, yaml.MappingNode):
            raise self.bad(key, f"{key} wants keys of its own", f"indent them below {key}:")
        return Head(self.path, self.offset, _entries(node, self.path, self.offset))


class Document(Struct, frozen=True):
    """A file as its parts; `head_lines` is how many lines come before the body."""

    head: Head
    body: str
    head_lines: int


def as_text(data: bytes, path: str) -> str:
    """`data` as the text of the file at `path`. Raises BadFileError for bytes that aren't UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadFileError(path, data.count(b"\n", 0, error.start) + 1, "this isn't UTF-8 text", "save the file as UTF-8") from None


def split(text: str, path: str) -> Document:
    """Head and body of `text`, whose lines may end in CRLF and which may begin with a BOM. Raises BadFileError."""
    text = _LINE_END.sub("\n", text.removeprefix("\ufeff"))
    if not re.match(r"---[ \t]*(\n|\Z)", text):
        return Document(Head(path, 0, {}), text, 0)
    end = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE).search(text, text.index("-") + 4)
    if end is None:
        raise BadFileError(path, 1, "the head has no closing ---", "add a line --- below its last key")
    start = text.find("\n") + 1
    head = read_mapping(text[start : end.start()], path, offset=1)
    return Document(head, text[end.end() :].removeprefix("\n"), text.count("\n", 0, end.start()) + 1)


def read_mapping(text: str, path: str, offset: int = 0) -> Head:
    """The YAML mapping that `text` is. Raises BadFileError for broken YAML, a duplicate key, or another shape."""
    refuse_conflict(text, path, offset)
    try:
        node = compose(text)
    except yaml.YAMLError as error:
        raise broken(error, text, path, offset) from None
    if node is None or _scalar_or_none(node) is None:
        return Head(path, offset, {})
    if not isinstance(node, yaml.MappingNode):
        raise BadFileError(path, 1 + offset, "this wants `key: value` lines", "write one key and its value on each line")
    return Head(path, offset, _entries(node, path, offset))


def compose(text: str, loader: type[yaml.SafeLoader] = _LOADER) -> yaml.Node | None:
    """The YAML nodes of `text`, which share what an alias repeats; None where it holds none. Raises yaml.YAMLError, for deep nesting and circles too."""
    try:
        node: yaml.Node | None = yaml.compose(text, Loader=loader)
    except RecursionError:
        raise _too_deep(None) from None
    _measure(node)
    return node


def _measure(root: yaml.Node | None) -> None:
    """Raise where nodes lie deeper in each other than anybody writes, in themselves say, or come to too many where aliases are written out."""
    sizes: dict[int, int] = {}
    path: dict[int, None] = {}
    waiting: list[tuple[yaml.Node, bool]] = [(root, False)] if root else []
    while waiting:
        node, entered = waiting.pop()
        inner = _inner(node)
        if entered:
            path.popitem()
            sizes[id(node)] = 1 + sum(sizes[id(one)] for one in inner)
        elif id(node) not in sizes:
            if id(node) in path or len(path) == _DEEPEST:
                raise _too_deep(node.start_mark)
            path[id(node)] = None
            waiting += [(node, True), *((one, False) for one in inner)]
    if root and sizes[id(root)] > max(_MOST, 10 * len(sizes)):
        raise yaml.MarkedYAMLError(problem="its aliases repeat too much", problem_mark=root.start_mark)


def _inner(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [one for pair in node.value for one in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _too_deep(mark: yaml.Mark | None) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem="it is nested too deeply", problem_mark=mark)


def refuse_conflict(text: str, path: str, offset: int = 0) -> None:
    """Raise BadFileError where a merge left its marks in `text`."""
    mark = _CONFLICT.search(text)
    if mark:
        line = text.count("\n", 0, mark.start()) + 1 + offset
        raise BadFileError(path, line, "a merge left a conflict here", "keep the lines that hold, remove the marks, and commit")


def _entries(node: yaml.MappingNode, path: str, offset: int) -> dict[str, tuple[yaml.Node, yaml.Node]]:
    found: dict[str, tuple[yaml.Node, yaml.Node]] = {}
    for key, value in node.value:
        line = int(key.start_mark.line) + 1 + offset
        if not isinstance(key, yaml.ScalarNode):
            raise BadFileError(path, line, "a key wants to be one word", "write key: value")
        if key.value in found:
            first = int(found[key.value][0].start_mark.line) + 1 + offset
            raise BadFileError(path, line, f"{key.value} stands twice, at lines {first} and {line}", "keep one of the two")
        found[key.value] = (key, value)
    return found


def _scalar(node: yaml.ScalarNode) -> str | None:
    """The text of a scalar; a plain empty one or `~`/`null` is None."""
    if node.tag == "tag:yaml.org,2002:null":
        return None
    return str(node.value)


def _scalar_or_none(node: yaml.Node) -> str | None:
    return _scalar(node) if isinstance(node, yaml.ScalarNode) else "other"


def broken(error: yaml.YAMLError, text: str, path: str, offset: int = 0) -> BadFileError:
    """What `error` says of `text`, which begins below `offset` lines of the file at `path`."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return BadFileError(path, 1 + offset, f"this is not YAML: {str(error).splitlines()[0]}", "remove the character, or write it as an escape")
    mark = error.problem_mark or error.context_mark
    row = int(mark.line) if mark else 0
    lines = text.split("\n")
    shown = lines[row].strip() if row < len(lines) else ""
    problem = f"this is not YAML ({error.problem or error.context})"
    if "\t" in (lines[row][: len(lines[row]) - len(lines[row].lstrip())] if row < len(lines) else ""):
        return BadFileError(path, row + 1 + offset, f"{problem}: {shown!r}", "indent with spaces, not with tabs")
    return BadFileError(path, row + 1 + offset, f"{problem}: {shown!r}", 'put the text between double quotes: "…"')


def dump(value: object) -> str:
    """`value` as YAML in one line (flow style), unfolded, keys in order, non-ASCII as it is."""
    dumped = yaml.safe_dump(value, default_flow_style=True, width=2**30, sort_keys=False, allow_unicode=True)
    return dumped.removesuffix("\n").removesuffix("\n...")
