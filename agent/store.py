"""`.agent/` at a commit as values, and values as the files of a commit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter

from agent.domain.config import Config, parse_config
from agent.domain.frontmatter import BadFileError, as_text
from agent.domain.lesson import parse_lesson
from agent.domain.memory import Memory, Record
from agent.domain.names import NoteName
from agent.domain.note import Note, parse_note
from agent.errors import AgentctlError
from agent.repository.folder import LINK, read_folder
from agent.repository.items import read_items
from agent.repository.repo import FOLDER, Entry, Repo

_CONFIG, _GOAL = f"{FOLDER}/config.yaml", f"{FOLDER}/goal.md"
GUIDES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md")


def load(repo: Repo, commit: str) -> Memory:
    """All of `.agent/` at `commit`. Raises BadFileError for what can't be read, AgentctlError where there is no `.agent/`."""
    found = read_folder(repo, commit)
    if not found.files and not found.notes:
        raise _no_memory(repo, commit)
    link = next((entry.path for entry in found.files if entry.mode == LINK), None)
    if link:
        raise BadFileError(link, 1, "this is a link, and what it leads to isn't in the history", "put the file itself in its place")
    lessons = _below(found.files, f"{FOLDER}/lessons/")
    single = [entry for entry in found.files if entry.path in (_CONFIG, _GOAL)]
    guides = list(dict.fromkeys([*GUIDES, *(repo.prefix + name for name in GUIDES)]))
    read = [*single, *lessons]
    blobs = repo.blobs([*(entry.id for entry in read), *(f"{commit}:{path}" for path in guides)])
    texts = {entry.path: as_text(data or b"", entry.path) for entry, data in zip(read, blobs[: len(read)], strict=True)}
    return Memory(
        commit=commit,
        config=parse_config(texts[_CONFIG]) if _CONFIG in texts else Config(),
        goal=texts.get(_GOAL, "").replace("\r\n", "\n").strip(),
        items=read_items(repo, _below(found.files, f"{FOLDER}/todo/")),
        notes=found.notes,
        lessons=tuple(parse_lesson(texts[entry.path], entry.path) for entry in lessons),
        guides=_guides(guides, blobs[len(read) :]),
    )


def _no_memory(repo: Repo, commit: str) -> AgentctlError:
    """Why `commit` holds no `.agent/`, as well as it can be told."""
    if commit != repo.head():
        return AgentctlError(f"there is no {FOLDER}/ at {commit[:10]}", f"git log -- {FOLDER} shows the commits that have one")
    if not (repo.root / FOLDER).is_dir():
        return AgentctlError(f"there is no {FOLDER}/ here yet", "agentctl init")
    refuse_ignored(repo)
    return AgentctlError(f"{FOLDER}/ is not in the last commit, and what isn't committed is not remembered", f"git add {FOLDER} && git commit")


def refuse_ignored(repo: Repo) -> None:
    """Raise AgentctlError, with the rule, where git ignores what is written into `.agent/`."""
    for path, rule in repo.ignored([f"{FOLDER}/config.yaml", f"{FOLDER}/notes/new.md", f"{FOLDER}/todo/new.md"]).items():
        folder = path.rpartition("/")[0]
        raise AgentctlError(f"git ignores {folder}/ ({rule}), so nothing there would be remembered", "take that rule out, and commit")


def _below(files: Iterable[Entry], start: str) -> list[Entry]:
    below = (entry for entry in files if entry.path.startswith(start) and entry.path.endswith(".md") and "/" not in entry.path[len(start) :])
    return sorted(below, key=attrgetter("path"))


def _guides(paths: Sequence[str], blobs: Sequence[bytes | None]) -> tuple[tuple[str, str], ...]:
    """The repository's own instructions, those at the top first; a text that stands twice counts once."""
    found: dict[str, str] = {}
    for path, data in zip(paths, blobs, strict=True):
        text = (data or b"").decode("utf-8", "replace").replace("\r\n", "\n").strip()
        if text and text not in found.values():
            found[path] = text
    return tuple(found.items())


def read_notes(repo: Repo, commit: str, names: Sequence[NoteName]) -> dict[NoteName, Note]:
    """The notes `names` as `commit` holds them; those that aren't there, or can't be read, are left out."""
    return _notes(repo, [(commit, name) for name in names])


def _notes(repo: Repo, places: Sequence[tuple[str, NoteName]]) -> dict[NoteName, Note]:
    blobs = repo.blobs([f"{commit}:{repo.prefix}{FOLDER}/{name.path}" for commit, name in places])
    found = {}
    for (_, name), data in zip(places, blobs, strict=True):
        if data is not None:
            found[name] = _lenient(data.decode("utf-8", "replace"), name)
    return found


def _lenient(text: str, name: NoteName) -> Note:
    """A note is read even where a person broke its head: as plain text."""
    try:
        return parse_note(text, f"{FOLDER}/{name.path}")
    except BadFileError:
        return Note(title=name.item, text=text.strip())


def last_letter(repo: Repo, memory: Memory) -> tuple[NoteName, Note] | None:
    """The newest note that holds a letter, or None."""
    for start in range(len(memory.notes), 0, -20):
        names = memory.notes[max(0, start - 20) : start]
        notes = read_notes(repo, memory.commit, names)
        for name in reversed(names):
            if name in notes and notes[name].letter:
                return name, notes[name]
    return None


def note_of(repo: Repo, record: Record) -> Note | None:
    """The note of a step, undone ones too (read from the commit that brought it)."""
    return notes_of(repo, [record]).get(record.name)


def notes_of(repo: Repo, records: Iterable[Record]) -> dict[NoteName, Note]:
    """The notes of steps, undone ones too; those that this clone doesn't have are left out."""
    return _notes(repo, [(record.commit, record.name) for record in records if record.commit])


def memory_path(repo: Repo, path: str) -> str:
    """A path inside `.agent/` as one relative to the top."""
    return f"{repo.prefix}{FOLDER}/{path}"


def write_memory(repo: Repo, files: Sequence[tuple[str, str]]) -> None:
    """Write `files` (path inside `.agent/`, text) into the work tree. Raises AgentctlError where a link or a file is in the way."""
    for path, text in files:
        whole = memory_path(repo, path)
        try:
            with repo.work.replacing(whole) as file:
                file.write(text.encode("utf-8"))
        except OSError as error:
            raise AgentctlError(f"{whole} can't be written: {error.strerror}", f"see what is there: ls -la {whole.rpartition('/')[0]}") from error
