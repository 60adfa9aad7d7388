"""What people say by hand: items added, done, reopened, dropped, and letters. Each is one commit of its own files."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from agent.actions.outcome import Writing, safe, write_up
from agent.actions.preflight import refuse_no_commit
from agent.actions.scene import Scene
from agent.actions.trust import approve_written
from agent.domain.adding import in_sequence, made_of
from agent.domain.fingerprint import keep_all_apart
from agent.domain.names import Outcome, next_step_id, slug
from agent.domain.note import Note
from agent.domain.todo import Item, NewItem, check_links, render_item, tidy_text, tidy_title, title_key
from agent.errors import AgentctlError
from agent.repository.git import gist
from agent.repository.landing import Made, commit_tree, uninterrupted
from agent.repository.repo import Repo
from agent.store import memory_path, write_memory


class Landed(Struct, frozen=True):
    """Files that a command added to `.agent/`; `commit` is None where they were only written (`--no-commit`)."""

    paths: tuple[str, ...]
    commit: str | None


def save(repo: Repo, files: Sequence[tuple[str, str]], message: str, *, commit: bool) -> Landed:
    """Write `files` (path inside `.agent/`, text), and commit just them. Raises AgentctlError where a hook refuses; the files are gone then."""
    paths = tuple(memory_path(repo, path) for path, _ in files)
    before = {path: repo.work.read(path) if repo.work.is_file(path) else None for path in paths}
    texts = [None if data is None else data.decode("utf-8", "replace") for data in before.values()]
    if not commit:
        write_memory(repo, files)
        approve_written(repo, files, texts)
        return Landed(paths, None)
    refuse_no_commit(repo)
    made: Made | None = None
    with uninterrupted():
        try:
            write_memory(repo, files)
            made = commit_tree(repo, repo.head(), None, paths, message)
        finally:
            if made is None or made.commit is None:
                for path, data in before.items():
                    repo.work.remove(path) if data is None else repo.work.write(path, data)
    if made.commit is None:
        raise AgentctlError(f"git made no commit: {gist(made.said) or 'nothing to commit'}", "mend what it names, or use --no-commit")
    approve_written(repo, files, texts)
    return Landed(paths, made.commit)


def new_items(scene: Scene, wanted: Sequence[NewItem]) -> tuple[list[Item], list[str]]:
    """`wanted` as items (see `made_of`) in their sequence, and the titles that the list already has (those are left out).

    Raises AgentctlError where an `after` names no item, or a title is empty.
    """
    titles = {title_key(item.title) for item in scene.memory.items}
    fresh: list[NewItem] = []
    known: list[str] = []
    for one in wanted:
        key = title_key(one.title)
        if not key:
            raise AgentctlError("an item wants a title", 'agentctl todo add "TITLE"')
        if key in titles:
            known.append(tidy_title(one.title))
            continue
        titles.add(key)
        fresh.append(one)
    placed = in_sequence(fresh, [item.order for item in scene.memory.items])
    made = made_of(placed, scene.memory.items, taken_ids(scene))
    check_links([*scene.memory.items, *made])
    return made, known


def add_items(scene: Scene, wanted: Sequence[NewItem], message: str, *, commit: bool = True) -> tuple[list[Item], list[str], Landed | None]:
    """Add `wanted` to the list in one commit; items added, titles that were there already, and what landed (None: nothing to add)."""
    items, known = new_items(scene, wanted)
    if not items:
        return [], known, None
    return items, known, save(scene.repo, item_files(scene, items), message, commit=commit)


def taken_ids(scene: Scene) -> frozenset[str]:
    """The ids of all items, and of files in `todo/` that a person hasn't committed yet."""
    todo = memory_path(scene.repo, "todo")
    there = scene.repo.work.names(todo) if scene.repo.work.is_folder(todo) else []
    on_disk = (name.removesuffix(".md") for name in there if name.endswith(".md"))
    return frozenset([*on_disk, *(item.id for item in scene.memory.items)])


def item_files(scene: Scene, items: Sequence[Item]) -> list[tuple[str, str]]:
    """The files of new items, kept unlike each other and those that are there, whatever template they were made from."""
    return keep_all_apart([(item.path, render_item(item)) for item in items], [f"{item.text}\n" for item in scene.memory.items])


WORDS = {Outcome.DONE: "Done by hand", Outcome.REOPENED: "Opened again", Outcome.DROPPED: "Dropped"}


def say(scene: Scene, item: Item, outcome: Outcome, because: str, now: datetime, *, commit: bool = True) -> tuple[Writing, Landed]:
    """Leave a person's note that makes `item` done, open again or dropped, with the reason."""
    step = next_step_id(item.id, now, scene.latest)
    reason = tidy_text(because)
    note = Note.of(item.title, f"{WORDS[outcome]}: {reason}" if reason else f"{WORDS[outcome]}.")
    writing = write_up(step, outcome, note)
    return writing, save(scene.repo, writing.files, writing.message, commit=commit)


def leave_letter(scene: Scene, text: str, now: datetime, *, commit: bool = True) -> tuple[Writing, Landed]:
    """Leave a letter to the next session, as a note of its own. Raises AgentctlError where it is empty."""
    letter = tidy_text(safe(text))
    if not letter:
        raise AgentctlError("the letter is empty", 'agentctl note "what the next session should know"')
    title = tidy_title(letter.split("\n", 1)[0])[:72] or "A letter"
    step = next_step_id(slug(title), now, scene.latest)
    note = Note.of("A letter from a person", "", letter)
    writing = write_up(step, Outcome.LETTER, note, told=Note.of(title, letter))
    return writing, save(scene.repo, writing.files, writing.message, commit=commit)
