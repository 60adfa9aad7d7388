"""The scripts of a repository that its checks, setup and hooks call, also by way of one another: what a step is judged by, and what runs at its commit."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from agent.domain.shellwords import shell_words

Read = Callable[[Sequence[str]], Sequence[str | None]]
"""Reads files of the base commit by their paths from the top; None for what isn't there."""

_PROGRAM = r"(?:ba|da|z|k)?sh|source|\.|python[\d.]*|node|deno|bun|ruby|perl|php|tsx|ts-node|env|exec|time|nice|timeout|xargs|uv|poetry|run|npx|-f"
_BETWEEN = r"[();<>|&]+|-.*|\w+=.*|\d+[smh]?"
# Where a runner finds what to do, by its name.
_RECIPES: Mapping[str, tuple[str, ...]] = {
    "make": ("GNUmakefile", "makefile", "Makefile"),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), ("package.json",)),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
}
HOOKS = (
    *(".husky", ".githooks", ".git-hooks", ".lefthook", ".pre-commit-config.yaml", ".pre-commit-config.yml", ".overcommit.yml"),
    *(f"{dot}lefthook{local}.{kind}" for dot in ("", ".") for local in ("", "-local") for kind in ("yml", "yaml", "toml", "json")),
)
"""Files and folders by which a repository carries hooks of git."""
_WORD = r"[\w./+][\w.@+/-]*[\w+-]"
_DEEP = 4  # calls from one script to the next
_MANY = 500  # words of one level that are looked up
LONGEST = 200_000
"""Bytes of the longest text that is taken for a script."""


def scripts_in(command: str) -> list[str]:
    """The words of a shell command that stand where a program does, or after a program that runs a file."""
    found, expected = [], True
    for word in shell_words(command):
        if expected and not re.fullmatch(_BETWEEN, word):
            found.append(word)
        runner = bool(re.fullmatch(_PROGRAM, posixpath.basename(word)))
        expected = runner or bool(re.fullmatch(r"[();|&]+", word)) or (expected and bool(re.fullmatch(_BETWEEN, word)))
    return found


def called(commands: Sequence[str], under: str, read: Read) -> frozenset[str]:
    """Paths from the top of the scripts that `commands` run in the folder `under` ("" or "apps/web/"), and of those that these call.

    A file that a script, or the recipe of `make`, `npm` and their like, names in any way is called by it, where it is a script itself: by its
    first line, or its name's end.
    """
    named = [word for command in commands for word in scripts_in(command)]
    first = {posixpath.normpath(under + word) for word in named}
    recipes = [under + file for name in sorted({*map(posixpath.basename, named)} & _RECIPES.keys()) for file in _RECIPES[name]]
    told = [(path, _recipe(path, text)) for path, text in _texts([*sorted(first), *recipes], read)]
    return frozenset(first) | _beyond(told, under, read)


def called_by(texts: Iterable[tuple[str, str]], under: str, read: Read) -> frozenset[str]:
    """As `called`, for the `texts` of hooks, each after its path from the top."""
    return _beyond(list(texts), under, read)


def _beyond(told: Sequence[tuple[str, str]], under: str, read: Read) -> frozenset[str]:
    known: set[str] = set()
    for _ in range(_DEEP):
        places = {place for path, text in told for word in re.findall(_WORD, text) for place in _places(word, path, under)}
        told = [(path, text) for path, text in _texts(sorted(places - known)[:_MANY], read) if _is_script(path, text)]
        known.update(path for path, _ in told)
        if not told:
            break
    return frozenset(known)


def _places(word: str, path: str, under: str) -> Iterable[str]:
    """Where `word` in the text at `path` may lead: from the top, the list's folder or its own, which `$(dirname "$0")/` leaves a slash of."""
    if "/" not in word and not word.endswith(".sh"):
        return
    for folder in {"", under, posixpath.dirname(path)}:
        place = posixpath.normpath(posixpath.join(folder, word.lstrip("/")))
        if not place.startswith(".."):
            yield place


def _texts(paths: Sequence[str], read: Read) -> list[tuple[str, str]]:
    return [(path, text) for path, text in zip(paths, read(paths), strict=True) if text is not None]


def _is_script(path: str, text: str) -> bool:
    return text.startswith("#!") or path.endswith((".sh", ".bash"))


def _recipe(path: str, text: str) -> str:
    """What of a file is run: of a package.json its `scripts`, of others all."""
    if posixpath.basename(path) != "package.json":
        return text
    try:
        scripts = json.loads(text)["scripts"]
        return "\n".join(map(str, scripts.values()))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""
