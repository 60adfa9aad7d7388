"""A commit opened for reading: memory, history, the list in order, and the brief for an item."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from agent.domain.brief import Brief, Sources, compose
from agent.domain.config import Limits
from agent.domain.memory import History, Memory, Record
from agent.domain.names import NoteName, StepId
from agent.domain.note import Note
from agent.domain.todo import Item, Standing, State, check_links, in_order, next_item, waiting_for
from agent.errors import AgentctlError, Exit
from agent.repository.facts import Past, read_past
from agent.repository.history import history_of, since_letter
from agent.repository.repo import Repo
from agent.store import last_letter, load, notes_of, read_notes
from agent.templates import template


class Scene(Struct, frozen=True):
    """What one commit holds, and what the log says up to it. `ordered` are the items as they are to be taken."""

    repo: Repo
    memory: Memory
    history: History
    ordered: tuple[Item, ...]
    letter: tuple[NoteName, Note] | None
    past: Past

    def standing(self, identity: str) -> Standing:
        """The standing of an item."""
        return self.memory.standings.get(identity, Standing())

    @property
    def latest(self) -> StepId | None:
        """The newest step id that history knows, undone ones too."""
        return self.history.records[-1].name.step if self.history.records else None


def open_scene(repo: Repo, revision: str = "HEAD") -> Scene:
    """The scene at `revision`. Raises AgentctlError where there is no such commit or no `.agent/` in it."""
    commit = repo.head() if revision == "HEAD" else repo.resolve(revision)
    if commit is None and revision == "HEAD":
        raise AgentctlError("there is no commit here yet", "make a first commit with git commit, then: agentctl init")
    if commit is None:
        raise AgentctlError(f"{revision} names no commit", "git log shows what there is")
    memory = load(repo, commit)
    letter = last_letter(repo, memory)
    past = read_past(repo, commit)
    history = history_of(repo, past, memory.notes)
    return Scene(repo, memory, history, tuple(in_order(memory.items, history.arrival)), letter, past)


def under(limits: Callable[[Limits], Limits], scene: Scene) -> Scene:
    """`scene` with the limits that the command line makes of its config's."""
    config = scene.memory.config
    return replace(scene, memory=replace(scene.memory, config=replace(config, limits=limits(config.limits))))


def choose(scene: Scene, identity: str | None) -> Item:
    """The item to work at: the one asked for, or the next. Raises AgentctlError that says why there is none (exit 3 or 6)."""
    check_links(scene.memory.items)
    if identity is None:
        item = next_item(scene.ordered, scene.memory.standings)
        if item is None:
            raise _nothing_next(scene)
        return item
    found = find_item(scene, identity)
    state = scene.standing(found.id).state
    if state is not State.OPEN:
        raise AgentctlError(f"{found.id} is {state}", f'agentctl todo reopen {found.id} --because "…"', Exit.PERSON_NEEDED)
    waiting = waiting_for(found, scene.memory.standings)
    if waiting:
        raise AgentctlError(f"{found.id} waits for {', '.join(waiting)}", f"agentctl step {waiting[0]}", Exit.PERSON_NEEDED)
    return found


def find_item(scene: Scene, identity: str) -> Item:
    """The item of that id, or the only one whose id begins so. Raises AgentctlError that names the nearest ones."""
    exact = scene.memory.item(identity)
    if exact is not None:
        return exact
    alike = [item for item in scene.memory.items if item.id.startswith(identity)] if identity else []
    if len(alike) == 1:
        return alike[0]
    near = ", ".join(item.id for item in (alike or scene.ordered)[:5])
    raise AgentctlError(f"{identity!r} is no item" if not alike else f"{identity!r} could be several items", f"agentctl todo; for example {near}")


def find_record(scene: Scene, word: str | None) -> Record | None:
    """The step that `word` names, by its id, its item (the latest step there) or its commit; the newest for None. None where there is none."""
    records = scene.history.records
    if word is None:
        return records[-1] if records else None
    exact = [record for record in records if word in (record.name.step, record.name.item)]
    if exact:
        return exact[-1]
    commit = scene.repo.resolve(word) if " " not in word and "\n" not in word else None
    return next((record for record in reversed(records) if commit and record.commit == commit), None)


def _nothing_next(scene: Scene) -> AgentctlError:
    states = {item.id: scene.standing(item.id).state for item in scene.ordered}
    if not states:
        return AgentctlError("the list is empty", "agentctl plan, or agentctl todo add TITLE", Exit.NOTHING_LEFT)
    blocked = [identity for identity, state in states.items() if state is State.BLOCKED]
    still_open = [identity for identity, state in states.items() if state is State.OPEN]
    if not blocked and not still_open:
        return AgentctlError(f"nothing is left to do: all {len(states)} items are done or dropped", "agentctl log", Exit.NOTHING_LEFT)
    if blocked:
        message = f"no item can be taken: {len(blocked)} blocked ({', '.join(blocked[:3])}), {len(still_open)} open behind them"
        return AgentctlError(message, f'agentctl todo show {blocked[0]}, then agentctl todo reopen {blocked[0]} --because "…"', Exit.PERSON_NEEDED)
    waiting = waiting_for(scene.memory.item(still_open[0]) or scene.ordered[0], scene.memory.standings)
    return AgentctlError(
        f"no item can be taken: {still_open[0]} waits for {', '.join(waiting)}",
        f"agentctl todo show {waiting[0]}" if waiting else "agentctl todo",
        Exit.PERSON_NEEDED,
    )


def brief_for(scene: Scene, item: Item | None, count: Callable[[str], int], prompt: str = "system.md", resumed: str = "") -> Brief:
    """The brief that a fresh session reads at this commit for `item` (None: for planning); `resumed` tells of one that was interrupted."""
    return compose(sources_of(scene, item, prompt, resumed), scene.memory.config.brief_tokens, count)


def sources_of(scene: Scene, item: Item | None, prompt: str = "system.md", resumed: str = "") -> Sources:
    """What that brief is made of."""
    history = _with_since(scene)
    wanted = [scene.letter[0]] if scene.letter else []
    wanted += list(history.merged)
    notes = read_notes(scene.repo, scene.memory.commit, wanted)
    if item is not None:
        notes |= notes_of(scene.repo, [record for record in scene.history.records if record.name.item == item.id])
    return Sources(template(prompt), scene.memory, history, item, notes, scene.letter[0] if scene.letter else None, resumed)


def _with_since(scene: Scene) -> History:
    """The history with what came since the last letter, which only a brief tells of."""
    if scene.letter is None:
        return scene.history
    since = since_letter(scene.repo, scene.past, scene.memory.commit, scene.memory.notes, scene.letter[0])
    return replace(scene.history, since=since.people, merged=since.merged, unread=since.unread)
