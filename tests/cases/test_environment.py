"""Cases of kind f that hold already: no network, no home, no folder."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.cases.adapter import answers, good
from tests.cases.conftest import Case
from tests.project import SOURCE, Project


def offline(project: Project, *args: str) -> subprocess.CompletedProcess[str]:
    """agentctl in a process that has no network at all."""
    argv = ["unshare", "--net", "--map-root-user", sys.executable, "-m", "agent", *args]
    done = subprocess.run(
        argv, cwd=project.root, env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True, text=True, check=False, timeout=60
    )
    if "unshare" in done.stderr:
        pytest.skip("no user namespaces here")
    return done


def test_case_112_and_113_without_a_network_or_a_tokenizer_file_a_step_lands_and_stdout_is_json(case: Case) -> None:
    project = case("""mkrepo; mkdir ../emptycache; export TIKTOKEN_CACHE_DIR="$(cd ../emptycache && pwd)" """)
    answers(project, good())
    done = offline(project, "step", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("{")
    assert "LiteLLM" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["status", "todo", "log", "--help"])
def test_case_112_commands_that_need_no_model_do_not_import_it(case: Case, command: str) -> None:
    project = case("mkrepo")
    script = f"import sys; from agent.cli.main import run; code = run([{command!r}]); sys.exit(code or 50 * bool({{'litellm', 'tiktoken'}} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=project.root, env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_case_115_an_unknown_word_is_an_error_and_makes_no_file(case: Case) -> None:
    project = case("mkrepo")
    for words in (["/reset"], ["stepp"], ["status", "/reset"], ["step", "--rest"]):
        assert project.agentctl(*words).code == 2
    assert project.status() == ""


def test_case_118_without_a_home_a_step_lands(case: Case) -> None:
    project = case("""
        mkrepo; git config user.name Local; git config user.email l@example.invalid
        export HOME=/nonexistent; unset XDG_CACHE_HOME XDG_CONFIG_HOME; git status >/dev/null""")
    answers(project, good())
    ran = project.agentctl("step")
    assert ran.code == 0, ran.err


def test_case_118_without_a_user_of_that_number_a_step_lands(case: Case) -> None:
    project = case("mkrepo; git config user.name Local; git config user.email l@example.invalid")
    answers(project, good())
    argv = ["unshare", "--map-user=12345", sys.executable, "-m", "agent", "step"]
    environment = {name: value for name, value in os.environ.items() if name != "HOME"}
    done = subprocess.run(
        argv, cwd=project.root, env={**environment, "PYTHONPATH": str(SOURCE)}, capture_output=True, text=True, check=False, timeout=60
    )
    if "unshare" in done.stderr:
        pytest.skip("no user namespaces here")
    assert done.returncode == 0, done.stderr


def test_case_119_a_folder_that_has_vanished_is_told_in_a_line(case: Case) -> None:
    project = case("mkrepo")
    script = 'd="$PWD"; rm -rf "$d"; mkdir "$d"; exec "$0" -m agent status'
    done = subprocess.run(
        ["sh", "-c", script, sys.executable],
        cwd=project.root,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "current directory no longer exists" in done.stderr
    assert "cd to it again" in done.stderr
