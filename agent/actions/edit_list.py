"""`todo edit`: the whole list as one text, and what changed in it as one commit of just the files that it means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from agent.actions.outcome import Writing, safe, write_up
from agent.actions.people import WORDS, Landed, item_files, save, taken_ids
from agent.actions.scene import Scene, open_scene
from agent.domain.adding import made_of
from agent.domain.fingerprint import keep_all_apart
from agent.domain.frontmatter import BadFileError, dump
from agent.domain.headedit import set_key, set_title
from agent.domain.listing import Changes, Row
from agent.domain.message import trailers_of, without_trailers
from agent.domain.names import Outcome, next_step_id
from agent.domain.note import Note
from agent.domain.todo import Item, Standing, check_links, parse_item, tidy_text
from agent.errors import AgentctlError
from agent.repository.repo import FOLDER, Repo
from agent.store import memory_path

_AGAIN = "agentctl todo edit"


class Edited(Struct, frozen=True):
    """What was changed: files that landed, the notes that say so, and the items that were added."""

    landed: Landed
    notes: tuple[Writing, ...]
    added: tuple[Item, ...]


def list_rows(scene: Scene) -> list[Row]:
    """The list in order, for `render` and `read` of `agent.domain.listing`."""
    standing = scene.memory.standings
    return [Row(item, standing.get(item.id, Standing()).state) for item in scene.ordered]


def apply(repo: Repo, scene: Scene, changes: Changes, now: datetime, because: str = "", *, commit: bool = True) -> Edited | None:
    """Make `changes`, which were read against `scene`, in one commit; None where there are none.

    Only the lines meant are changed, in place; done, dropped and reopened items get a person's note with the reason. What
    landed since `scene` was read stands, unless it is about the same items: then, and where a file that must change has changes that
    aren't committed, AgentctlError is raised and nothing is written.
    """
    if not changes:
        return None
    scene = _as_it_is(scene, open_scene(repo), changes)
    edits = _edits(scene, changes)
    added = made_of(changes.added, scene.memory.items, taken_ids(scene))
    check_links([*scene.memory.items, *added])
    because = tidy_text(safe(because))
    notes = _notes(scene, changes, now, because)
    note_files = keep_all_apart([file for note in notes for file in note.files])
    files = [*((f"todo/{identity}.md", text) for identity, text in edits.items()), *item_files(scene, added), *note_files]
    landed = save(repo, files, _message(changes, notes, because), commit=commit)
    if landed.commit:
        _confirm(repo, landed.commit, files)
    return Edited(landed, tuple(notes), tuple(added))


def _as_it_is(before: Scene, scene: Scene, changes: Changes) -> Scene:
    """The scene of now. Raises AgentctlError where an item to be changed is no longer what it was when the text was made."""
    if scene.memory.commit == before.memory.commit:
        return scene
    old, new = before.memory.standings, scene.memory.standings
    moved = [
        identity
        for identity in sorted(changes.touched)
        if before.memory.item(identity) != scene.memory.item(identity) or old.get(identity) != new.get(identity)
    ]
    if moved:
        raise AgentctlError(f"meanwhile the list changed: {', '.join(moved[:3])} is no longer what it was", _AGAIN)
    return scene


def _edits(scene: Scene, changes: Changes) -> dict[str, str]:
    """The new texts of the files of items whose title or order changes."""
    items = {item.id: item for item in scene.memory.items}
    wanted = {identity: items[identity] for identity in items if identity in changes.titles or identity in changes.orders}
    _refuse_uncommitted(scene.repo, [item.path for item in wanted.values()])
    return {identity: _edit(scene.repo, item, changes) for identity, item in wanted.items()}


def _refuse_uncommitted(repo: Repo, paths: Sequence[str]) -> None:
    status = repo.status() if paths else None
    for path in paths:
        whole = memory_path(repo, path)
        if status and whole in (*status.staged, *status.modified, *status.unmerged):
            raise AgentctlError(f"{whole} has changes that aren't committed", f"git commit -- {whole}, or take them back: git restore -- {whole}")


def _edit(repo: Repo, item: Item, changes: Changes) -> str:
    path = f"{FOLDER}/{item.path}"
    try:
        text = repo.work.read(memory_path(repo, item.path)).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise BadFileError(path, 1, "the file in the work tree can't be read", f"git restore -- {memory_path(repo, item.path)}") from None
    wanted = item
    if item.id in changes.titles:
        wanted = replace(wanted, title=changes.titles[item.id])
        text = set_title(text, wanted.title, path)
    if item.id in changes.orders:
        wanted = replace(wanted, order=changes.orders[item.id])
        text = set_key(text, "order", dump(_short(changes.orders[item.id])), path)
    if parse_item(text, path) != wanted:
        raise BadFileError(path, 1, "the change can't be made here without touching the rest of the file", "edit the file by hand")
    return text


def _short(number: float) -> float | int:
    return int(number) if number == int(number) else number


def _notes(scene: Scene, changes: Changes, now: datetime, because: str) -> list[Writing]:
    notes = []
    latest = scene.latest
    for identity, outcome in changes.outcomes.items():
        item = scene.memory.item(identity)
        latest = next_step_id(identity, now, latest)
        reason = because or ("its line was taken out of the list" if identity in changes.gone else "")
        title = changes.titles.get(identity, item.title if item else identity)
        note = Note.of(title, f"{WORDS[outcome]}: {reason}" if reason else f"{WORDS[outcome]}.")
        notes.append(write_up(latest, outcome, note))
    return notes


_TOLD = {Outcome.DONE: "done", Outcome.DROPPED: "dropped", Outcome.REOPENED: "opened again"}


def _message(changes: Changes, notes: Sequence[Writing], because: str) -> str:
    """What changed in numbers, why, and each note's trailers."""
    said = list(changes.outcomes.values())
    numbers: Mapping[str, int] = {
        **{told: said.count(outcome) for outcome, told in _TOLD.items()},
        "renamed": len(changes.titles),
        "moved": len(changes.orders),
        "added": len(changes.added),
    }
    subject = "todo: " + ", ".join(f"{number} {told}" for told, number in numbers.items() if number)
    trailers = "\n".join(trailers_of(note.message) for note in notes)
    return "\n\n".join(part for part in (subject, without_trailers(because), trailers) if part) + "\n"


def _confirm(repo: Repo, commit: str, files: Sequence[tuple[str, str]]) -> None:
    """Raise AgentctlError where the commit doesn't hold what was written: a hook, or a link, led it elsewhere."""
    kept = repo.blobs([f"{commit}:{memory_path(repo, path)}" for path, _ in files])
    for (path, text), data in zip(files, kept, strict=True):
        if data is None or data.replace(b"\r\n", b"\n") != text.encode().replace(b"\r\n", b"\n"):
            raise AgentctlError(
                f"{commit[:10]} does not hold {FOLDER}/{path} as it was written", f"git show {commit[:10]}, and see what your hooks change"
            )
