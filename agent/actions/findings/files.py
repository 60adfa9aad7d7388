"""The files of `.agent/`: there, committed, readable, and named so that they are read."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from agent.actions.findings.finding import Finder, Finding, Look, listed
from agent.actions.findings.reading import is_read, trouble
from agent.actions.people import save
from agent.domain.text import one_line
from agent.errors import AgentctlError
from agent.lock import locked
from agent.repository.repo import FOLDER
from agent.templates import template

_LINK = "120000"
_ATTRIBUTES = ".gitattributes"


def missing(look: Look) -> Iterator[Finding]:
    """There is no `.agent/`, or nothing of it is committed."""
    if look.committed:
        return
    if look.on_disk:
        yield Finding(
            "error", f"nothing in {FOLDER}/ is committed, so nothing is remembered", f'git add {FOLDER} && git commit -m "Remember {FOLDER}"'
        )
    else:
        yield Finding("error", f"there is no {FOLDER}/ here yet", "agentctl init")


def ignored(look: Look) -> Iterator[Finding]:
    """What steps would add is ignored by git."""
    for path, rule in look.repo.ignored([f"{FOLDER}/{folder}/new.md" for folder in ("notes", "todo", "lessons")]).items():
        text = f"git ignores {path.rpartition('/')[0]}/ ({rule}), so nothing there would be remembered"
        yield Finding("error", text, "take the rule out and commit")


def links(look: Look) -> Iterator[Finding]:
    """Links lead out of the history."""
    folder = look.repo.root / FOLDER
    if folder.is_symlink():
        yield Finding("error", f"{FOLDER} is a link, and what it leads to isn't in the history", "put the folder itself in its place")
    committed = {path for path, entry in look.committed.items() if entry.mode == _LINK}
    for path in sorted(committed | {path for path, file in look.on_disk.items() if file.is_symlink()}):
        yield Finding("error", f"{_shown(path)} is a link, and what it leads to isn't in the history", "put the file itself in its place")


def unreadable(look: Look) -> Iterator[Finding]:
    """Files that can't be read as they are committed; a work copy that is mended already is said to be."""
    for path, data in look.contents.items():
        found = trouble(path, data) if look.committed[path].mode != _LINK else None
        if found is None:
            continue
        if path in look.differing and path in look.on_disk and _work_trouble(look, path) is None:
            yield Finding("warning", f"{found.message}; your copy can be read, but isn't committed", _commit(path))
        else:
            yield Finding("error", found.message, found.hint)


def broken_copies(look: Look) -> Iterator[Finding]:
    """Work copies that can't be read, or are empty, while what is committed can."""
    for path in look.differing:
        if path not in look.contents or trouble(path, look.contents[path]):
            continue
        if path not in look.on_disk:
            yield Finding(
                "warning", f"{_shown(path)} is deleted, but that isn't committed", f"git restore -- {shlex.quote(path)}, or {_commit(path)}"
            )
        elif found := _work_trouble(look, path):
            yield Finding("error", f"{found.message}; it differs from HEAD, where it can be read", _restore(path))
        elif look.contents[path].strip() and not look.copy(path).strip():
            yield Finding("error", f"{_shown(path)} is empty, and HEAD's isn't", _restore(path))


def uncommitted(look: Look) -> Iterator[Finding]:
    """Readable changes that a step would refuse to begin with."""
    paths = [path for path in look.differing if path in look.on_disk and _work_trouble(look, path) is None]
    whole = [path for path in paths if path not in look.contents or _says_something(look, path)]
    if whole:
        names = listed(_shown(path) for path in whole)
        yield Finding("warning", f"{names} differ{'s' if len(whole) == 1 else ''} from HEAD: what isn't committed isn't remembered", _commit(*whole))


def _says_something(look: Look, path: str) -> bool:
    return bool(look.copy(path).strip()) or not look.contents[path].strip()


def untracked(look: Look) -> Iterator[Finding]:
    """Files that a person dropped there and didn't commit."""
    if not look.untracked or not look.committed:
        return
    for path in look.untracked:
        if path in look.on_disk and (found := _work_trouble(look, path)):
            yield Finding("error", f"{found.message}; it isn't committed yet", found.hint)
    names = listed(_shown(path) for path in look.untracked)
    text = f"{names} {'is' if len(look.untracked) == 1 else 'are'} not remembered until committed"
    yield Finding("warning", text, f"git add -- {_quoted(look.untracked)} && git commit")


def misnamed(look: Look) -> Iterator[Finding]:
    """Files whose name keeps them from being read."""
    for path in {**look.committed, **dict.fromkeys(look.untracked)}:
        inner = path.removeprefix(f"{FOLDER}/")
        if inner.startswith("notes/") and not is_read(inner):
            mend = "letters are left with: agentctl note TEXT; files that aren't notes belong elsewhere"
            yield Finding("warning", f"{_shown(path)} has no note's name, so it isn't read", mend)
        elif inner.startswith(("todo/", "lessons/")) and not is_read(inner):
            yield Finding(
                "warning", f"{_shown(path)} isn't read: files there end in .md and lie in no folder below", f"git mv -- {shlex.quote(path)} NAME.md"
            )


def alike(look: Look) -> Iterator[Finding]:
    """Names that differ only in case are one file on some machines."""
    seen: dict[str, str] = {}
    for path in look.committed:
        other = seen.setdefault(path.casefold(), path)
        if other != path:
            yield Finding(
                "error",
                f"{_shown(other)} and {_shown(path)} differ only in case: some machines keep just one",
                f"git mv -- {shlex.quote(path)} OTHER-NAME.md",
            )


def attributes(look: Look) -> Iterator[Finding]:
    """`.agent/.gitattributes` keeps line ends the same everywhere."""
    path = f"{FOLDER}/{_ATTRIBUTES}"
    if not look.committed or path in look.committed or path in look.on_disk:
        return

    def write() -> str:
        with locked(look.repo.private):
            if (look.repo.root / path).exists():
                raise AgentctlError(f"{path} is there by now", "agentctl doctor")
            save(look.repo, [(_ATTRIBUTES, template("gitattributes"))], f"Keep the line ends of {FOLDER}/ the same everywhere\n", commit=True)
        return f"{path} is written and committed"

    yield Finding("warning", f"{path} is missing, so core.autocrlf may rewrite what steps remember", "agentctl doctor --fix", write)


def _work_trouble(look: Look, path: str) -> AgentctlError | None:
    return None if look.on_disk[path].is_symlink() else trouble(path, look.copy(path))


def _commit(*paths: str) -> str:
    return f"git commit -- {_quoted(paths)}"


def _restore(path: str) -> str:
    return f"git restore --staged --worktree -- {shlex.quote(path)}"


def _quoted(paths: tuple[str, ...]) -> str:
    return " ".join(map(shlex.quote, paths)) if len(paths) <= 5 else FOLDER  # noqa: PLR2004 - as many as a line holds


def _shown(path: str) -> str:
    return one_line(path, 90)


FILES: tuple[Finder, ...] = (
    missing, ignored, links, unreadable, broken_copies, uncommitted, untracked, misnamed, alike, attributes,
)  # fmt: skip
