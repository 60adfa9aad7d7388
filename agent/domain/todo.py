"""Items of the todo list: parse and render, states from the notes' names, and the choice of the next one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from agent.domain.allow import is_known, listed
from agent.domain.fingerprint import SHORT, keep_apart
from agent.domain.frontmatter import BadFileError, dump, refuse_conflict, split
from agent.domain.names import LONGEST, NAME, NoteName, Outcome, slug
from agent.errors import AgentctlError

LONGEST_TITLE = 200  # characters; `tidy_title` cuts what is longer


class Item(Struct, frozen=True):
    """One entry of the list. `allow` names what its steps may do that the gate else refuses."""

    id: str
    title: str
    text: str = ""
    order: float | None = None
    after: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The item's path inside `.agent/`."""
        return f"todo/{self.id}.md"


class NewItem(Struct, frozen=True):
    """An item as a person or a planner wants it added; `after` holds ids, or titles of items that are added with it."""

    title: str
    text: str = ""
    checks: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    order: float | None = None
    allow: tuple[str, ...] = ()


class State(StrEnum):
    """Where an item stands."""

    OPEN = "open"
    DONE = "done"
    BLOCKED = "blocked"
    DROPPED = "dropped"


_STATE_AFTER = {
    Outcome.DONE: State.DONE,
    Outcome.FAILED: State.OPEN,
    Outcome.BLOCKED: State.BLOCKED,
    Outcome.REOPENED: State.OPEN,
    Outcome.DROPPED: State.DROPPED,
}


class Standing(Struct, frozen=True):
    """An item's state, the note that decided it, and how many attempts failed since it was last opened."""

    state: State = State.OPEN
    last: NoteName | None = None
    failures: int = 0


def parse_item(text: str, path: str) -> Item:
    """The item in the file at `path` (inside `.agent/`). Unknown keys are left alone. Raises BadFileError."""
    identity = path.rpartition("/")[2].removesuffix(".md")
    if not NAME.fullmatch(identity) or len(identity) > LONGEST:
        raise BadFileError(path, 1, "an item's file name wants only a-z, 0-9 and - (at most 60)", f"git mv '.agent/{path}' to such a name")
    document = split(text, path)
    refuse_conflict(document.body, path, document.head_lines)
    title, body = title_and_text(document.body)
    head = document.head
    for word in head.texts("allow"):
        if not is_known(word):
            raise head.bad("allow", f"{word} is nothing that can be allowed", f"what can be: {listed()}")
    return Item(
        id=identity,
        title=title or identity,
        text=body,
        order=head.number("order"),
        after=head.texts("after"),
        checks=head.texts("checks"),
        allow=head.texts("allow"),
    )


def render_item(item: Item) -> str:
    """The item's file; `parse_item` gives the item back. One whose id isn't its title's may have a twin of another id: it is kept unlike that."""
    head = {
        "order": _number(item.order),
        "after": list(item.after) or None,
        "checks": list(item.checks) or None,
        "allow": list(item.allow) or None,
    }
    lines = [f"{key}: {dump(value)}" for key, value in head.items() if value is not None]
    body = f"# {item.title}\n" + (f"\n{item.text}\n" if item.text else "")
    repeats = sum(len(line.encode()) + 1 for line in lines)
    if item.id != slug(item.title) and len(body.encode()) < SHORT:
        repeats += len(body.encode())
    return keep_apart(lines, body, seed=item.id, repeats=repeats) if repeats else body


def _number(value: float | None) -> float | int | None:
    return int(value) if value is not None and value == int(value) else value


def title_and_text(body: str) -> tuple[str, str]:
    """The first line as a title (with or without its `#`), and the rest without the blank lines around it."""
    stripped = body.strip("\r\n")
    first, _, rest = stripped.partition("\n")
    title = first.strip()
    if title.startswith("# ") or title == "#":
        title = title[1:].strip()
    return title, rest.strip("\r\n")


def tidy_title(title: str) -> str:
    """`title` as one line without control characters, at most LONGEST_TITLE characters: what `parse_item` gives back."""
    line = " ".join("".join(char if char.isprintable() else " " for char in title).split())
    while line.startswith("# ") or line == "#":
        line = line[1:].strip()
    return line[:LONGEST_TITLE].strip()


def title_key(title: str) -> str:
    """What makes two titles the same: their words, whatever case and spacing."""
    return " ".join(tidy_title(title).casefold().split())


def tidy_text(text: str) -> str:
    """`text` with LF line ends, no control characters and no blank lines around it: what the parsers give back."""
    unified = text.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    kept = "".join(char for char in unified if char in "\n\t" or unicodedata.category(char) != "Cc")
    return "\n".join(line.rstrip() for line in kept.split("\n")).strip("\n")


def standings(names: Iterable[NoteName]) -> dict[str, Standing]:
    """Each item's standing by its notes' names, given in order of time; letters say nothing of an item."""
    last: dict[str, NoteName] = {}
    failures: dict[str, int] = {}
    for name in names:
        item, outcome = name.item, name.outcome
        if outcome is Outcome.LETTER:
            continue
        last[item] = name
        failures[item] = failures.get(item, 0) + 1 if outcome is Outcome.FAILED else 0
    return {item: Standing(_STATE_AFTER[name.outcome], name, failures[item]) for item, name in last.items()}


def in_order(items: Iterable[Item], arrival: Mapping[str, int]) -> list[Item]:
    """Items as they are to be taken: those with an `order` first, lowest first; then by arrival; ties by id."""
    unknown = len(arrival)
    return sorted(
        items,
        key=lambda item: (item.order is None, item.order or 0.0, arrival.get(item.id, unknown), item.id),
    )


def check_links(items: Sequence[Item]) -> None:
    """Raise AgentctlError where an `after` names an unknown item, the item itself, or closes a cycle."""
    known = {item.id: item for item in items}
    problems = [f"{item.id} needs itself" for item in items if item.id in item.after]
    problems += [f"{item.id} needs {other}, which is no item" for item in items for other in item.after if other not in known]
    cycle = _cycle({item.id: [other for other in item.after if other in known and other != item.id] for item in items})
    if cycle:
        problems.append("a circle: " + " -> ".join(cycle))
    if problems:
        raise AgentctlError("the list can't be worked off: " + "; ".join(problems), "mend `after:` in .agent/todo/ and commit")


def _cycle(after: Mapping[str, Sequence[str]]) -> list[str]:
    """One cycle as the ids along it, first and last the same; empty where there is none. Iterative: chains may be long."""
    finished: set[str] = set()
    for start in sorted(after):
        path: list[str] = []
        on_path: set[str] = set()
        stack: list[tuple[str, int]] = [(start, 0)]
        while stack:
            here, nth = stack.pop()
            if nth == 0:
                if here in finished:
                    continue
                path.append(here)
                on_path.add(here)
            if nth < len(after[here]):
                stack.append((here, nth + 1))
                following = after[here][nth]
                if following in on_path:
                    return [*path[path.index(following) :], following]
                stack.append((following, 0))
                continue
            finished.add(here)
            on_path.discard(path.pop())
    return []


def next_item(ordered: Sequence[Item], standing: Mapping[str, Standing]) -> Item | None:
    """The first open item whose `after` are all done, or None."""
    done = {identity for identity, where in standing.items() if where.state is State.DONE}
    for item in ordered:
        if standing.get(item.id, Standing()).state is State.OPEN and all(other in done for other in item.after):
            return item
    return None


def waiting_for(item: Item, standing: Mapping[str, Standing]) -> tuple[str, ...]:
    """The ids in the item's `after` that aren't done."""
    return tuple(other for other in item.after if standing.get(other, Standing()).state is not State.DONE)
