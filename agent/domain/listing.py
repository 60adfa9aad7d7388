"""The whole list as one text to edit, as `git rebase -i` does it, and what an edited text means."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from agent.domain.names import Outcome, slug
from agent.domain.reorder import Slot, reorder
from agent.domain.text import one_line, plain
from agent.domain.todo import LONGEST_TITLE, Item, NewItem, State, tidy_title, title_key
from agent.errors import AgentctlError

_WORDS = {
    "open": State.OPEN, "reopen": State.OPEN, "done": State.DONE, "drop": State.DROPPED, "dropped": State.DROPPED, "blocked": State.BLOCKED,
}  # fmt: skip
_ADD = "add"
_OUTCOMES = {State.OPEN: Outcome.REOPENED, State.DONE: Outcome.DONE, State.DROPPED: Outcome.DROPPED}
_UNDER_WAY = (State.OPEN, State.BLOCKED)
_WIDEST = 40
_SHOWN = 300  # columns of what a message quotes

_HELP = """\
# One line an item: its state, its id, its title. Save and close to apply; an empty text changes nothing.
#   move a line         the items are taken from top to bottom (and those with `after:` when that is done)
#   edit a title        the id stays
#   done, drop          in place of open or blocked: done by hand, or nobody is to do it
#   open (or reopen)    in place of blocked, done or dropped: to be done (again)
#   take a line out     the same as drop; done and dropped items just stay as they are
#   add TITLE           a new line makes a new item
# Lines that begin with # count for nothing."""
_FINISHED = "# Done and dropped:"


class Row(Struct, frozen=True):
    """An item of the list and where it stands."""

    item: Item
    state: State


class Changes(Struct, frozen=True):
    """What an edited text asks for, by item id. `gone` are those of `outcomes` whose line was taken out."""

    titles: Mapping[str, str] = field(default_factory=dict)
    orders: Mapping[str, float] = field(default_factory=dict)
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    added: tuple[NewItem, ...] = ()
    gone: frozenset[str] = frozenset()

    @property
    def touched(self) -> frozenset[str]:
        """The ids of all items that change."""
        return frozenset([*self.titles, *self.orders, *self.outcomes])

    def __bool__(self) -> bool:
        return bool(self.touched or self.added)


class BadLineError(AgentctlError):
    """A line of an edited list that can't be read; `line` counts from 1."""

    def __init__(self, line: int, problem: str, mend: str) -> None:
        super().__init__(f"line {line}: {one_line(problem, _SHOWN)}", mend)
        self.line = line


class _Line(Struct, frozen=True):
    """A line as it was read; `row` is None for a new item."""

    number: int
    row: Row | None
    state: State
    title: str

    @property
    def stays_open(self) -> bool:
        return self.row is not None and self.row.state in _UNDER_WAY and self.state in _UNDER_WAY


def render(rows: Sequence[Row]) -> str:
    """`rows` (in their order) as a text to edit: items to be done, then done and dropped ones, with the words explained between."""
    width = min(_WIDEST, max((len(row.item.id) for row in rows), default=0))
    under_way = [_shown(row, width) for row in rows if row.state in _UNDER_WAY]
    finished = [_shown(row, width) for row in rows if row.state not in _UNDER_WAY]
    parts = [*under_way, *([""] if under_way else []), *_HELP.split("\n"), *(["", _FINISHED, *finished] if finished else [])]
    return "\n".join(parts) + "\n"


def _shown(row: Row, width: int) -> str:
    return f"{row.state:<7} {row.item.id:<{width}} {plain(row.item.title)}".rstrip()


def read(text: str, rows: Sequence[Row]) -> Changes:
    """What `text`, edited from `render(rows)`, asks for. Raises BadLineError for a line that can't be meant so."""
    lines = _lines(text.removeprefix("\ufeff"), {row.item.id: row for row in rows})
    if not lines:
        return Changes()
    titles = {line.row.item.id: line.title for line in lines if line.row is not None and line.title != plain(line.row.item.title)}
    _refuse_twins(lines, rows, titles)
    named = {line.row.item.id for line in lines if line.row is not None}
    gone = [row.item.id for row in rows if row.item.id not in named and row.state in _UNDER_WAY]
    outcomes = {line.row.item.id: _OUTCOMES[line.state] for line in lines if line.row is not None and line.state is not line.row.state}
    orders, added = _places(lines, rows)
    return Changes(titles, orders, {**outcomes, **dict.fromkeys(gone, Outcome.DROPPED)}, added, frozenset(gone))


def _lines(text: str, known: Mapping[str, Row]) -> list[_Line]:
    lines: list[_Line] = []
    seen: dict[str, int] = {}
    for number, written in enumerate(text.split("\n"), start=1):
        words = written.strip()
        if not words or words.startswith("#"):
            continue
        line = _line(number, words, known)
        if line.row is not None:
            first = seen.setdefault(line.row.item.id, number)
            if first != number:
                raise BadLineError(number, f"{line.row.item.id} stands at line {first} already", "keep one of the two lines")
        lines.append(line)
    return lines


def _line(number: int, text: str, known: Mapping[str, Row]) -> _Line:
    word, rest = _first_word(text)
    if word == _ADD:
        return _Line(number, None, State.OPEN, _title(number, rest))
    if word not in _WORDS:
        raise BadLineError(number, f"{plain(word)!r} is no word of this list", f"begin the line with {', '.join([*_WORDS, _ADD])}")
    identity, title = _first_word(rest)
    row = known.get(identity)
    if row is None:
        near = difflib.get_close_matches(identity, known, n=1)
        hint = f"is it {near[0]}?" if near else "a new item is a line: add TITLE"
        raise BadLineError(number, f"{plain(identity)!r} is no item" if identity else "the item's id is missing", hint)
    state = _WORDS[word]
    if state is State.BLOCKED and row.state is not State.BLOCKED:
        raise BadLineError(number, f"{identity} is {row.state}, and only a step's question blocks an item", "write drop, or leave it as it was")
    if title.strip() == plain(row.item.title).strip():
        return _Line(number, row, state, plain(row.item.title))
    return _Line(number, row, state, _title(number, title))


def _first_word(text: str) -> tuple[str, str]:
    words = text.split(maxsplit=1)
    return (words[0] if words else "", words[1] if len(words) > 1 else "")


def _title(number: int, text: str) -> str:
    title = tidy_title(text)
    if not title:
        raise BadLineError(number, "the title is missing", "write it behind the id, or behind add; to drop an item, begin its line with drop")
    if len(" ".join(text.split())) > LONGEST_TITLE:
        raise BadLineError(number, f"the title is longer than {LONGEST_TITLE} characters", "put the rest into the item's text, in .agent/todo/")
    return title


def _refuse_twins(lines: Iterable[_Line], rows: Iterable[Row], titles: Mapping[str, str]) -> None:
    """Raise BadLineError where a new or edited title is another item's."""
    owners = {title_key(row.item.title): row.item.id for row in rows if row.item.id not in titles}
    for line in lines:
        if line.row is not None and line.row.item.id not in titles:
            continue
        key = title_key(line.title)
        if key in owners:
            raise BadLineError(line.number, f"{owners[key]} has that title", "say in the title what tells the two apart")
        owners[key] = line.row.item.id if line.row is not None else f"line {line.number}"


def _places(lines: Sequence[_Line], rows: Sequence[Row]) -> tuple[dict[str, float], tuple[NewItem, ...]]:
    """The orders to write, and the new items with theirs.

    What stands below the last item that stays open keeps its place: an item opened again where it stood among the done ones, and
    new ones, which come last anyhow.
    """
    rank = {row.item.id: place for place, row in enumerate(rows)}
    news = [line for line in lines if line.row is None]
    listed = [line for line in lines if line.state in _UNDER_WAY]
    last = max((place for place, line in enumerate(listed) if line.stays_open), default=-1)
    without = any(line.row is not None and line.row.item.order is None for line in listed[: last + 1])
    in_play = [line for place, line in enumerate(listed) if place <= last or (line.row is None and not without and len(news) > 1)]
    slots = [
        Slot(None, (math.inf, slug(line.title))) if line.row is None else Slot(line.row.item.order, (rank[line.row.item.id], "")) for line in in_play
    ]
    numbers = {in_play[place].number: order for place, order in reorder(slots).items()}
    orders = {line.row.item.id: numbers[line.number] for line in in_play if line.row is not None and line.number in numbers}
    added = tuple(replace(NewItem(line.title), order=numbers.get(line.number)) for line in news)
    return orders, added
