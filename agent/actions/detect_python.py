"""How a Python repository is tested: pytest, unittest, tox or nox, and through which environment manager."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agent.actions.detect_files import Candidate, nearest, python_test_files, read_manifest, read_text, table

# A lock file says which program knows the environment that the tests need.
_MANAGERS = (("uv.lock", "uv run "), ("poetry.lock", "poetry run "), ("pdm.lock", "pdm run "), ("Pipfile.lock", "pipenv run "))
_DEPENDENCY = re.compile(r"""^[ \t]*["']?pytest\b|["']pytest\b""", re.MULTILINE)
_PYTEST_TEST = re.compile(r"^(?:async )?def test_|^[ \t]*(?:import pytest\b|from pytest\b)", re.MULTILINE)
_UNITTEST_TEST = re.compile(r"^[ \t]*(?:import unittest\b|from unittest\b)", re.MULTILINE)
_SECTIONS = (("tox.ini", "[pytest]"), ("setup.cfg", "[tool:pytest]"))
_PYTEST, _UNITTEST = r"\bpytest\b", r"\bunittest\b"


def python_check(root: Path, top: Path) -> Candidate | None:
    """The command that runs the Python tests of `root`, None where there are none.

    It says `python3`, since Debian, Ubuntu and macOS have no `python` outside a virtual environment and both are in one.
    """
    manifest = read_manifest(root / "pyproject.toml")
    texts = {path: read_text(path) for path in python_test_files(root)}
    manager = next((prefix for name, prefix in _MANAGERS if nearest(root, top, name)), "")
    sign = next(_pytest_signs(root, manifest, texts), "")
    if sign:
        return _pytest(root, manifest, texts, manager, sign)
    return _by_automation(root) or _unittest(root, texts, manager)


def _pytest_signs(root: Path, manifest: Mapping[str, Any], texts: Mapping[Path, str]) -> Iterator[str]:
    if table(manifest, "tool", "pytest"):
        yield "pyproject.toml configures pytest"
    yield from (f"there is {name}" for name in ("pytest.ini", ".pytest.ini") if (root / name).is_file())
    yield from (f"{name} has a section {section}" for name, section in _SECTIONS if section in read_text(root / name))
    yield from (f"there is {name}" for name in ("conftest.py", "tests/conftest.py", "test/conftest.py") if (root / name).is_file())
    yield from (f"{name} runs pytest" for name in ("tox.ini", "noxfile.py") if re.search(_PYTEST, read_text(root / name)))
    yield from (f"{path.relative_to(root).as_posix()} is written for pytest" for path, text in texts.items() if _PYTEST_TEST.search(text))
    requirements = (path.name for path in sorted(root.glob("*requirements*.txt")) if _DEPENDENCY.search(read_text(path)))
    yield from (f"{name} asks for pytest" for name in requirements)
    if texts and _DEPENDENCY.search(read_text(root / "pyproject.toml")):
        yield "pyproject.toml asks for pytest"


def _pytest(root: Path, manifest: Mapping[str, Any], texts: Mapping[Path, str], manager: str, sign: str) -> Candidate:
    if _needs_root_on_path(root, manifest, texts):
        why = f"{sign}; as a module of python3, so that the tests can import what lies beside their folder"
        return Candidate(f"{manager}python3 -m pytest -q", why, _PYTEST)
    return Candidate(f"{manager}pytest -q", sign, _PYTEST)


def _needs_root_on_path(root: Path, manifest: Mapping[str, Any], texts: Mapping[Path, str]) -> bool:
    """Whether plain `pytest` would fail to import the code.

    It puts the folder of a test file on the path (of the topmost package, if it is in one) and that of each conftest.py,
    not the current one (pytest's "prepend" import mode).
    """
    if "project" in manifest or "build-system" in manifest or (root / "setup.py").is_file() or (root / "conftest.py").is_file():
        return False
    if any("pythonpath" in read_text(root / name) for name in ("pyproject.toml", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg")):
        return False
    loose = [text for path, text in texts.items() if path.parent != root and not (path.parent / "__init__.py").is_file()]
    modules = {path.stem for path in root.glob("*.py")} | {path.parent.name for path in root.glob("*/__init__.py")}
    imported = re.compile(rf"^[ \t]*(?:import|from) (?:{'|'.join(map(re.escape, sorted(modules)))})\b", re.MULTILINE)
    return bool(modules) and any(imported.search(text) for text in loose)


def _by_automation(root: Path) -> Candidate | None:
    for name, tool in (("tox.ini", "tox"), ("noxfile.py", "nox")):
        if (root / name).is_file():
            return Candidate(tool, f"there is {name}", rf"\b{tool}\b")
    return None


def _unittest(root: Path, texts: Mapping[Path, str], manager: str) -> Candidate | None:
    files = [path.relative_to(root) for path, text in texts.items() if _UNITTEST_TEST.search(text) and "TestCase" in text]
    if not files:
        return None
    command = f"{manager}python3 -m unittest discover{_start(root, files)}"
    if not any(path.name.startswith("test") for path in files):
        command += " -p '*_test.py'"
    return Candidate(command, f"{files[0].as_posix()} uses unittest, and nothing says pytest", _UNITTEST)


def _start(root: Path, files: Sequence[Path]) -> str:
    """The folder to start in: unittest goes down from `.` only through packages, and refuses `-t .` for a folder that is none."""
    folder = next((name for name in ("tests", "test") if any(path.parts[0] == name for path in files)), None)
    if folder is None:
        return ""
    return f" -s {folder} -t ." if (root / folder / "__init__.py").is_file() else f" -s {folder}"
