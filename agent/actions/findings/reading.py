"""Whether a file of `.agent/` can be read: by where it lies."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agent.domain.config import parse_config
from agent.domain.frontmatter import BadFileError, as_text, refuse_conflict
from agent.domain.lesson import parse_lesson
from agent.domain.names import NoteName
from agent.domain.note import parse_note
from agent.domain.todo import parse_item
from agent.repository.repo import FOLDER


def _note(text: str, path: str) -> None:
    note = parse_note(text, path)
    refuse_conflict(f"{note.text}\n{note.letter}", path)


_FOLDERS: Mapping[str, Callable[[str, str], object]] = {"todo": parse_item, "notes": _note, "lessons": parse_lesson}
_SINGLE: Mapping[str, Callable[[str, str], object]] = {"config.yaml": parse_config, "goal.md": refuse_conflict}


def trouble(path: str, data: bytes) -> BadFileError | None:
    """Why `data` can't be the file at `path` (`.agent/…`); None where it can, or where nobody reads it."""
    parse = _parser(path.removeprefix(f"{FOLDER}/"))
    if parse is None:
        return None
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        return BadFileError(path, line, "this holds zero bytes: a crash or a full disk cut it off", "put it back from git, or write it anew")
    try:
        parse(as_text(data, path), path)
    except BadFileError as error:
        return error
    except RecursionError:
        return BadFileError(path, 1, "this is nested too deeply to be read", "write it flat")
    return None


def _parser(path: str) -> Callable[[str, str], object] | None:
    if path in _SINGLE:
        return _SINGLE[path]
    folder, _, name = path.partition("/")
    if folder not in _FOLDERS or not name.endswith(".md"):
        return None
    return _FOLDERS[folder] if is_read(path) else None


def is_read(path: str) -> bool:
    """Whether the file at `path` (inside `.agent/`) is one that agentctl reads, by its name."""
    folder, _, name = path.partition("/")
    if folder == "notes":
        return NoteName.parse(path) is not None
    return path in _SINGLE or (folder in _FOLDERS and name.endswith(".md") and "/" not in name)
