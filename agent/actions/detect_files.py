"""Reading what tells how a repository is tested: small files, never an exception."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

_LARGEST = 512 * 1024  # bytes; no manifest that a person wrote is larger
_MOST_TEST_FILES = 200
_PARSERS: Mapping[str, Callable[[str], object]] = {"pyproject.toml": tomllib.loads, "package.json": json.loads, "Cargo.toml": tomllib.loads}


class Candidate(Struct, frozen=True):
    """A command that may check the repository. `tool` is a pattern that finds it in prose and in a Makefile's recipe."""

    command: str
    why: str
    tool: str


def read_text(path: Path) -> str:
    """The file's text (a BOM is dropped, foreign bytes become �); "" where there is no such regular file."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(_LARGEST).decode("utf-8-sig", "replace")
    except OSError:
        return ""


def read_manifest(path: Path) -> Mapping[str, Any]:
    """The table or object in `path` (TOML or JSON by its name); empty where there is none, or none that can be read."""
    parsed, _ = _parse(path)
    return parsed


def broken_manifests(root: Path) -> tuple[str, ...]:
    """One sentence for each manifest in `root` that is there but can't be read, so that detection went on without it."""
    problems = ((name, _parse(root / name)[1]) for name in _PARSERS)
    return tuple(f"{name} can't be read ({problem}), so it was left aside." for name, problem in problems if problem)


def _parse(path: Path) -> tuple[Mapping[str, Any], str]:
    text = read_text(path)
    if not text.strip():
        return {}, ""
    try:
        parsed = _PARSERS[path.name](text)
    except (ValueError, RecursionError) as error:
        return {}, str(error) or "nested too deeply"
    return (parsed, "") if isinstance(parsed, dict) else ({}, "it holds no object")


def table(parent: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """The table under `keys`, empty where one of them is missing or something else."""
    found: Any = parent
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def upwards(root: Path, top: Path) -> Iterator[Path]:
    """`root` and its parents up to `top`; only `root` where it doesn't lie below `top`."""
    yield root
    if root.is_relative_to(top):
        for parent in root.parents:
            if not parent.is_relative_to(top):
                return
            yield parent


def nearest(root: Path, top: Path, name: str) -> Path | None:
    """The file `name` in `root` or the nearest folder above it, up to `top`."""
    return next((folder / name for folder in upwards(root, top) if (folder / name).is_file()), None)


def python_test_files(root: Path) -> list[Path]:
    """Up to 200 Python test files: in `root`, in its `tests` or `test`, and in the `tests` of its packages; in a steady order."""
    folders = [root / "tests", root / "test", *sorted(root.glob("[!.]*/tests"))]
    found = [path for path in sorted(root.glob("*.py")) if _is_test(path.name)]
    for folder in folders:
        found += [path for path in _below(folder) if path not in found]
        if len(found) >= _MOST_TEST_FILES:
            break
    return found[:_MOST_TEST_FILES]


def _below(folder: Path) -> Iterator[Path]:
    count = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__", "node_modules")))
        for name in sorted(names):
            if _is_test(name):
                yield Path(parent, name)
                count += 1
                if count >= _MOST_TEST_FILES:
                    return


def _is_test(name: str) -> bool:
    return name.endswith(".py") and (name.startswith("test") or name.endswith("_test.py"))
