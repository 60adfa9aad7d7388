"""What is known of the commit that a step begins from holds for just the files that it was found with."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from agent.actions.before import checks_before, code_key
from agent.cache import keep, kept
from agent.domain.events import Event, ignore
from agent.gate.formats.protocol import Counts, Tally
from agent.gate.protocol import Baseline
from agent.repository.repo import Repo, discover
from tests.project import Project
from tests.shells import bare_shell


def _nothing() -> None:
    """For when checks ran."""


@pytest.fixture(params=["", "web", "apps/web", "apps/many/deep/web"])
def repo(request: pytest.FixtureRequest, project: Project) -> Repo:
    prefix = str(request.param)
    project.write(f"{prefix}/.agent/goal.md".removeprefix("/"), "Another list.\n")
    for folder in ("apps/lib", "web", "apps/web/src", "apps/many/deep/web"):
        project.write(f"{folder}/code.py", "x = 1\n")
    project.commit("Several projects")
    return discover(project.root / prefix)


PATHS = ("apps/lib/code.py", "web/code.py", "apps/web/src/code.py", "apps/many/deep/web/code.py", "apps/new.py", "apps/web/.agents/x", "calc.py")


@pytest.mark.parametrize("path", PATHS)
def test_a_change_anywhere_but_in_the_lists_own_folder_asks_the_checks_again(repo: Repo, project: Project, path: str) -> None:
    before = code_key(repo, "HEAD", "as usual")
    project.write(path, "x = 2\n")
    project.commit("Change it")
    assert code_key(repo, "HEAD", "as usual") != before


def test_a_file_that_becomes_executable_asks_the_checks_again(repo: Repo, project: Project) -> None:
    before = code_key(repo, "HEAD", "as usual")
    (project.root / "check.sh").chmod(0o755)
    project.commit("Make it executable")
    assert code_key(repo, "HEAD", "as usual") != before


def test_a_change_in_the_lists_own_folder_does_not(repo: Repo, project: Project) -> None:
    before = code_key(repo, "HEAD", "as usual")
    project.write(f"{repo.prefix}.agent/todo/new.md", "# New\n")
    project.commit("Add an item")
    assert code_key(repo, "HEAD", "as usual") == before


def test_a_check_that_was_never_run_is_not_called_red_and_is_asked_the_next_time(project: Project) -> None:
    repo = discover(project.root)
    commands = ("sleep 30", "true", "false")
    assert _said(checks_before(repo, "HEAD", commands, bare_shell(repo.root), 0.3, ignore, _nothing)) == {"sleep 30": False}
    assert _said(checks_before(repo, "HEAD", commands, bare_shell(repo.root), 20, ignore, _nothing)) == {
        "sleep 30": False,
        "true": True,
        "false": False,
    }


def test_what_is_kept_of_a_tree_comes_back_whole_and_a_cache_of_another_shape_is_asked_again(project: Project) -> None:
    repo = discover(project.root)
    told = "test_a.py::test_a PASSED\ntest_a.py::test_b FAILED\n=== 1 failed, 1 passed in 0.01s ===\n"
    project.write("told", told)
    project.commit("What pytest says")
    command = "cat told; exit 1"
    first = checks_before(repo, "HEAD", [command], bare_shell(repo.root), 30, ignore, _nothing)
    assert first[command].tally == Tally(Counts("pytest", passed=1, failed=1), ("test_a.py::test_a",), ("test_a.py::test_b",))
    heard: list[Event] = []
    assert checks_before(repo, "HEAD", [command], bare_shell(repo.root), 30, heard.append, _nothing) == first
    assert heard == []
    (cache,) = (repo.private / "cache").glob("checks-*.json")
    text = json.dumps(kept(cache))
    for damaged in ("[]", "{}", text.replace('"passed"', '"went"'), text.replace('"tally"', '"old"'), '{"x": {"y": true}}'):
        assert damaged != text
        keep(cache, json.loads(damaged))
        assert checks_before(repo, "HEAD", [command], bare_shell(repo.root), 30, heard.append, _nothing) == first
        assert heard, damaged
        heard.clear()


def _said(before: Mapping[str, Baseline]) -> dict[str, bool]:
    return {command: one.ok for command, one in before.items()}


def test_another_way_to_run_them_asks_the_checks_again(repo: Repo) -> None:
    assert code_key(repo, "HEAD", "none") != code_key(repo, "HEAD", "bubblewrap")
