"""`.agent/` at a commit as values, and values as the files of a commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from agent.domain.config import Config, parse_config
from agent.domain.frontmatter import BadFileError
from agent.domain.lesson import parse_lesson
from agent.domain.memory import Memory, Record
from agent.domain.names import NoteName
from agent.domain.note import Note, parse_note
from agent.domain.todo import parse_item
from agent.errors import AgentctlError
from agent.repository.folder import LINK, read_folder
from agent.repository.repo import FOLDER, Entry, Repo

GUIDES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md")
_T = TypeVar("_T")


def load(repo: Repo, commit: str) -> Memory:
    """All of `.agent/` at `commit`. Raises BadFileError for what can't be read, AgentctlError where there is no `.agent/`."""
    found = read_folder(repo, commit)
    if not found.files and not found.notes:
        raise _no_memory(repo, commit)
    link = next((entry.path for entry in found.files if entry.mode == LINK), None)
    if link:
        raise BadFileError(link, 1, "this is a link, and what it leads to isn't in the history", "put the file itself in its place")
    folder = {entry.path.removeprefix(f"{FOLDER}/"): entry for entry in found.files}
    todo = _below(folder, "todo/")
    lessons = _below(folder, "lessons/")
    single = [folder[name] for name in ("config.yaml", "goal.md") if name in folder]
    guides = list(dict.fromkeys([*GUIDES, *(repo.prefix + name for name in GUIDES)]))
    read = [*single, *todo, *lessons]
    blobs = repo.blobs([*(entry.id for entry in read), *(f"{commit}:{path}" for path in guides)])
    texts = _texts(read, blobs[: len(read)])
    config = _parse("config.yaml", folder, texts, lambda text, _: parse_config(text)) or Config()
    return Memory(
        commit=commit,
        config=config,
        goal=texts.get("goal.md", "").replace("\r\n", "\n").strip(),
        items=tuple(_parse_all(todo, texts, parse_item)),
        notes=found.notes,
        lessons=tuple(_parse_all(lessons, texts, parse_lesson)),
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


def _below(folder: dict[str, Entry], start: str) -> list[Entry]:
    below = sorted(path for path in folder if path.startswith(start) and path.endswith(".md") and path.count("/") == 1)
    return [folder[path] for path in below]


def _texts(entries: Sequence[Entry], blobs: Sequence[bytes | None]) -> dict[str, str]:
    """The texts of `entries` by their path inside `.agent/`. Raises BadFileError for bytes that aren't UTF-8."""
    found = {}
    for entry, data in zip(entries, blobs, strict=True):
        path = entry.path.removeprefix(f"{FOLDER}/")
        try:
            found[path] = (data or b"").decode("utf-8")
        except UnicodeDecodeError as error:
            line = (data or b"").count(b"\n", 0, error.start) + 1
            raise BadFileError(entry.path, line, "this isn't UTF-8 text", "save the file as UTF-8") from None
    return found


def _parse(path: str, folder: dict[str, Entry], texts: dict[str, str], parse: Callable[[str, str], _T]) -> _T | None:
    return parse(texts[path], folder[path].path) if path in texts else None


def _parse_all(entries: Iterable[Entry], texts: dict[str, str], parse: Callable[[str, str], _T]) -> list[_T]:
    return [parse(texts[entry.path.removeprefix(f"{FOLDER}/")], entry.path) for entry in entries]


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
