"""What is known of the commit that a step begins from holds for just the files that it was found with."""

from __future__ import annotations

import pytest

from agent.actions.before import code_key, red_before
from agent.domain.events import ignore
from agent.repository.repo import Repo, discover
from tests.project import Project


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
    before = code_key(repo, "HEAD")
    project.write(path, "x = 2\n")
    project.commit("Change it")
    assert code_key(repo, "HEAD") != before


def test_a_file_that_becomes_executable_asks_the_checks_again(repo: Repo, project: Project) -> None:
    before = code_key(repo, "HEAD")
    (project.root / "check.sh").chmod(0o755)
    project.commit("Make it executable")
    assert code_key(repo, "HEAD") != before


def test_a_change_in_the_lists_own_folder_does_not(repo: Repo, project: Project) -> None:
    before = code_key(repo, "HEAD")
    project.write(f"{repo.prefix}.agent/todo/new.md", "# New\n")
    project.commit("Add an item")
    assert code_key(repo, "HEAD") == before


def test_a_check_that_was_never_run_is_not_called_red_and_is_asked_the_next_time(project: Project) -> None:
    repo = discover(project.root)
    commands = ("sleep 30", "true", "false")
    assert red_before(repo, "HEAD", commands, 0.3, ignore) == {"sleep 30"}
    assert red_before(repo, "HEAD", commands, 20, ignore) == {"sleep 30", "false"}
