from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.actions.detect import broken_manifests, detect_checks

PYTEST = "def test_add(): pass\n"
UNITTEST = "import unittest\n\nclass T(unittest.TestCase):\n    def test_add(self): pass\n"
SCRIPT = '{"scripts": {"test": "jest"}}'


def lay(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def commands(root: Path, files: Mapping[str, str]) -> list[str]:
    return [found.command for found in detect_checks(lay(root, files), root)]


ONE: list[tuple[dict[str, str], str]] = [
    ({"pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['tests']\n"}, "pytest -q"),
    ({"pytest.ini": "[pytest]\n"}, "pytest -q"),
    ({"setup.cfg": "[metadata]\n[tool:pytest]\n"}, "pytest -q"),
    ({"tox.ini": "[tox]\n[pytest]\n"}, "pytest -q"),
    ({"tox.ini": "[testenv]\ncommands = pytest {posargs}\n"}, "pytest -q"),
    ({"noxfile.py": "session.run('pytest')\n"}, "pytest -q"),
    ({"conftest.py": ""}, "pytest -q"),
    ({"tests/test_a.py": PYTEST}, "pytest -q"),
    ({"tests/deep/er/test_a.py": PYTEST}, "pytest -q"),
    ({"pkg/tests/test_a.py": PYTEST}, "pytest -q"),
    ({"tests/test_a.py": UNITTEST, "requirements-dev.txt": "ruff\npytest>=8\n"}, "pytest -q"),
    ({"tests/test_a.py": UNITTEST, "pyproject.toml": "[dependency-groups]\ndev = ['pytest>=8']\n"}, "pytest -q"),
    ({"tests/test_a.py": PYTEST, "uv.lock": ""}, "uv run pytest -q"),
    ({"tests/test_a.py": PYTEST, "poetry.lock": ""}, "poetry run pytest -q"),
    ({"tests/test_a.py": UNITTEST, "tests/__init__.py": ""}, "python3 -m unittest discover -s tests -t ."),
    ({"tests/test_a.py": UNITTEST}, "python3 -m unittest discover -s tests"),
    ({"test/test_a.py": UNITTEST}, "python3 -m unittest discover -s test"),
    ({"test_a.py": UNITTEST}, "python3 -m unittest discover"),
    ({"calc_test.py": UNITTEST}, "python3 -m unittest discover -p '*_test.py'"),
    ({"tox.ini": "[testenv]\ncommands = stestr run\n"}, "tox"),
    ({"noxfile.py": "session.run('stestr')\n"}, "nox"),
    ({"package.json": SCRIPT}, "npm test"),
    ({"package.json": SCRIPT, "package-lock.json": "{}"}, "npm test"),
    ({"package.json": SCRIPT, "pnpm-lock.yaml": ""}, "pnpm test"),
    ({"package.json": SCRIPT, "yarn.lock": ""}, "yarn test"),
    ({"package.json": SCRIPT, "bun.lock": ""}, "bun run test"),
    ({"package.json": '{"packageManager": "pnpm@9.1.0", "scripts": {"test": "jest"}}', "yarn.lock": ""}, "pnpm test"),
    ({"Cargo.toml": "[package]\nname = 'a'\n"}, "cargo test"),
    ({"Cargo.toml": "[workspace]\n[package]\nname = 'a'\n"}, "cargo test --workspace"),
    ({"go.mod": "module m\n"}, "go test ./..."),
    ({"Makefile": "build:\n\tcc a.c\ntest: build\n\t./run-tests\n"}, "make test"),
    ({"GNUmakefile": "check test : build\n\t./run-tests\n"}, "make test"),
    ({"build.gradle": ""}, "gradle test"),
    ({"build.gradle.kts": "", "gradlew": ""}, "./gradlew test"),
    ({"pom.xml": "<project/>"}, "mvn -B test"),
    ({"pom.xml": "<project/>", "mvnw": ""}, "./mvnw -B test"),
]


@pytest.mark.parametrize(("files", "command"), ONE, ids=[" ".join(files) for files, _ in ONE])
def test_each_kind_of_repository_is_known_by_its_files(tmp_path: Path, files: dict[str, str], command: str) -> None:
    assert commands(tmp_path, files) == [command]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"README.md": "make test, pytest, npm test"},
        {"app.py": "def test_mode(): pass\n"},
        {"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'},
        {"package.json": '{"scripts": {"test": "jest --watch"}}'},
        {"package.json": '{"scripts": {"test": 3}}'},
        {"package.json": '{"scripts": []}'},
        {"Makefile": "test = yes\nTEST := 1\ntests:\n\ttrue\n.PHONY: test\n"},
        {"tests/data/test_notes.txt": PYTEST},
    ],
)
def test_what_is_no_check_is_not_taken_for_one(tmp_path: Path, files: dict[str, str]) -> None:
    assert commands(tmp_path, files) == []


def test_pytest_goes_through_python_where_it_would_not_find_the_code_beside_the_tests(tmp_path: Path) -> None:
    lay(tmp_path, {"calc.py": "", "tests/test_calc.py": "import calc\ndef test_add(): pass\n"})
    (found,) = detect_checks(tmp_path, tmp_path)
    assert found.command == "python3 -m pytest -q"
    assert "beside their folder" in found.why
    run = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    assert subprocess.run(run, cwd=tmp_path, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("mend", [{"conftest.py": ""}, {"tests/__init__.py": ""}, {"pytest.ini": "[pytest]\npythonpath = .\n"}, {"setup.py": ""}])
def test_plain_pytest_is_enough_where_the_code_is_on_its_path(tmp_path: Path, mend: dict[str, str]) -> None:
    assert commands(tmp_path, {"calc.py": "", "tests/test_calc.py": f"import calc\n{PYTEST}", **mend}) == ["pytest -q"]


@pytest.mark.parametrize(
    "layout",
    [
        ["tests/test_a.py"],
        ["tests/test_a.py", "tests/__init__.py"],
        ["test_a.py"],
        ["calc_test.py"],
        ["pkg/__init__.py", "pkg/tests/__init__.py", "pkg/tests/test_a.py"],
    ],
)
def test_the_unittest_command_finds_the_tests_in_every_layout(tmp_path: Path, layout: list[str]) -> None:
    lay(tmp_path, {"calc.py": ""} | {name: "" if name.endswith("__init__.py") else f"import calc\n{UNITTEST}" for name in layout})
    (found,) = detect_checks(tmp_path, tmp_path)
    command = found.command.replace("python3", f"'{sys.executable}' -B")
    assert "Ran 1 test" in subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True).stderr


@pytest.mark.parametrize(
    "recipe", ["test:\n\tpytest -x\n", "test: unit\nunit:\n\t$(PYTHON) -m pytest\n", "test: ; pytest\n", "a test::\n\t@pytest\n"]
)
def test_make_test_stands_for_what_it_calls(tmp_path: Path, recipe: str) -> None:
    (found,) = detect_checks(lay(tmp_path, {"Makefile": recipe, "tests/test_a.py": PYTEST}), tmp_path)
    assert found.command == "make test"
    assert "`pytest -q`" in found.why


def test_make_test_stands_beside_what_it_does_not_call(tmp_path: Path) -> None:
    assert commands(tmp_path, {"Makefile": "test:\n\t./run\n", "tests/test_a.py": PYTEST}) == ["make test", "pytest -q"]


def test_the_command_that_the_documents_name_comes_first(tmp_path: Path) -> None:
    files = {"README.md": "Run `cargo test`.", "tests/test_a.py": PYTEST, "Cargo.toml": "[package]\n", "go.mod": "module m\n"}
    assert commands(tmp_path, files) == ["cargo test", "pytest -q"]


def test_the_documents_choose_between_make_and_what_it_calls(tmp_path: Path) -> None:
    files = {"Makefile": "test:\n\tpytest -x\n", "tests/test_a.py": PYTEST}
    assert commands(tmp_path, {**files, "README.md": "Run `pytest`."}) == ["pytest -q"]
    assert commands(tmp_path, {**files, "README.md": "Run `make test` or `pytest`."}) == ["make test"]


def test_a_package_of_a_monorepo_uses_what_lies_above_it(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {"pnpm-lock.yaml": "", "gradlew": "", "uv.lock": "", "web/package.json": SCRIPT, "api/build.gradle": "", "py/tests/test_a.py": PYTEST},
    )
    found = {name: [found.command for found in detect_checks(tmp_path / name, tmp_path)] for name in ("web", "api", "py")}
    assert found == {"web": ["pnpm test"], "api": ["../gradlew test"], "py": ["uv run pytest -q"]}


def test_what_lies_above_the_repository_is_not_looked_at(tmp_path: Path) -> None:
    lay(tmp_path, {"pnpm-lock.yaml": "", "repo/package.json": SCRIPT})
    assert [found.command for found in detect_checks(tmp_path / "repo", tmp_path / "repo")] == ["npm test"]


@pytest.mark.parametrize("name", ["pyproject.toml", "package.json", "Cargo.toml"])
@pytest.mark.parametrize("text", ["{", "<<<<<<< HEAD\n", "[" * 100_000, "3"])
def test_a_broken_manifest_is_left_aside_and_named(tmp_path: Path, name: str, text: str) -> None:
    lay(tmp_path, {name: text, "go.mod": "module m\n"})
    assert [found.command for found in detect_checks(tmp_path, tmp_path)] == ["go test ./..."]
    (note,) = broken_manifests(tmp_path)
    assert note.startswith(f"{name} can't be read (")
    assert len(note) < 300


def test_a_manifest_that_can_be_read_is_not_called_broken(tmp_path: Path) -> None:
    lay(tmp_path, {"package.json": "\ufeff" + SCRIPT, "Cargo.toml": "[package]\r\n", "pyproject.toml": ""})
    assert broken_manifests(tmp_path) == ()


def test_folders_links_and_endless_files_in_place_of_manifests_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "Makefile").mkdir()
    (tmp_path / "tests").symlink_to(tmp_path)
    (tmp_path / "package.json").symlink_to("/dev/zero")
    (tmp_path / "README.md").symlink_to("nowhere")
    assert detect_checks(tmp_path, tmp_path) == ()


@pytest.mark.parametrize("piece", ["\n", " ", "\t\n", "test:\n", "a" * 50 + " ", "\ttrue\n", "import\n"])
def test_a_huge_file_takes_no_long_time(tmp_path: Path, piece: str) -> None:
    names = ("Makefile", "README.md", "requirements.txt", "tests/test_a.py", "pyproject.toml", "tox.ini")
    lay(tmp_path, dict.fromkeys(names, piece * (600_000 // len(piece))))
    began = time.process_time()
    assert len(detect_checks(tmp_path, tmp_path)) <= 2
    assert time.process_time() - began < 20  # a pattern that backtracks over it takes minutes


NAMES = ("pyproject.toml", "package.json", "Cargo.toml", "Makefile", "tox.ini", "setup.cfg", "README.md", "tests/test_a.py", "requirements.txt")
WORDS = st.sampled_from(
    ["test:", "\t", "\n", "pytest", "[tool.pytest]", "[", "]", "{", "}", '"scripts"', ":", '"test"', "=", "import unittest", "'", "\x00", "ß"]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(NAMES), st.lists(WORDS, max_size=20).map("".join).map(str.encode) | st.binary(max_size=60)))
def test_no_content_of_any_file_makes_detection_raise(tmp_path: Path, files: dict[str, bytes]) -> None:
    shutil.rmtree(tmp_path)
    (tmp_path / "tests").mkdir(parents=True)
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    assert len(detect_checks(tmp_path, tmp_path)) <= 2
    assert all(note.endswith("left aside.") for note in broken_manifests(tmp_path))
