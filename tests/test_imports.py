"""A command pays only for what it uses: what a fresh process has imported at its end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

import pytest

from tests.project import ADDS, SOURCE, Project, finish, reply

HEAVY = ("litellm", "openai", "httpx", "tiktoken", "rich")
ITEM = "make-add-add"
_RUN = """
import atexit, sys
atexit.register(lambda: sys.stderr.write("imported: " + " ".join(name for name in {heavy} if name in sys.modules)))
from agent.cli.main import main
main()
"""


@pytest.fixture
def stepped(project: Project) -> Project:
    """A repository with a step that landed."""
    project.items("Make add() add", "Make mul() multiply")
    project.record({ITEM: [[reply(ADDS, finish())]]})
    assert project.agentctl("step").code == 0
    return project


def _imported(project: Project, *args: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", _RUN.format(heavy=HEAVY), *args],
        cwd=project.root,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return set(done.stderr.decode().rpartition("imported: ")[2].split())


@pytest.mark.parametrize(
    "args",
    [
        ["--version"],
        ["--help"],
        ["status"],
        ["todo"],
        ["todo", "add", "Make div() divide"],
        ["todo", "done", "make-mul-multiply", "--because", "By hand."],
        ["log"],
        ["cost"],
        ["note"],
        ["note", "Mind the sign."],
        ["handoff"],
        ["doctor"],
        ["undo", ITEM, "--because", "It was right before."],
    ],
    ids=" ".join,
)
def test_a_command_that_asks_no_model_imports_nothing_of_models_tokens_or_screens(stepped: Project, args: Sequence[str]) -> None:
    assert _imported(stepped, *args) == set()


def test_a_brief_of_plain_text_is_counted_without_tiktoken_and_any_other_without_litellm(stepped: Project) -> None:
    assert _imported(stepped, "context", "--json") == set()
    assert stepped.agentctl("note", "Das Maß ist voll: 漢字").code == 0
    assert _imported(stepped, "context", "--json") == {"tiktoken"}


def test_a_brief_that_is_far_from_its_budget_is_printed_without_counting(stepped: Project) -> None:
    assert _imported(stepped, "context") == set()


def test_a_brief_is_the_same_text_whether_its_tokens_are_counted_or_not(stepped: Project) -> None:
    for letter in ("short", "long " * 5000, "so long, a word a line\n" * 3000):
        assert stepped.agentctl("note", letter + " and a word").code == 0
        assert stepped.agentctl("context").out == stepped.agentctl("context", "--json").json["text"]


def test_a_step_with_a_recorded_model_and_plain_texts_imports_neither_litellm_nor_tiktoken(project: Project) -> None:
    project.items("Make add() add")
    project.record({ITEM: [[reply(ADDS, finish())]]})
    assert _imported(project, "step") == set()
