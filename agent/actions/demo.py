"""The repository of `agentctl demo`: a small till with failing tests, and recorded replies in place of a model."""

from __future__ import annotations

from pathlib import Path

from agent.errors import AgentctlError
from agent.repository.create import create
from agent.repository.landing import commit_tree
from agent.repository.repo import Repo
from agent.templates import template

_FILES = (
    "till.py",
    "pytest.ini",
    "replies.yaml",
    "plan.md",
    "tests/test_parse.py",
    "tests/test_total.py",
    "tests/test_change.py",
    "tests/test_receipt.py",
)
CHECK = "python -m pytest -q tests/test_parse.py"
MODEL = "scripted:replies.yaml"
GOAL = "A till that adds up, gives change and prints receipts. Amounts are cents inside; tests/ says what each function must do."


def make_repository(folder: Path) -> Repo:
    """A new repository in `folder` with the till and its tests in one commit. Raises AgentctlError where `folder` isn't empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise AgentctlError(f"{folder} is there already and not empty", "name a folder that isn't: agentctl demo DIR")
    for name in _FILES:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(template(f"demo/{name}"), "utf-8")
    repo = create(folder, name="agentctl demo", email="demo@example.invalid")
    made = commit_tree(repo, None, None, _FILES, "A till with three functions to write, and tests for them\n")
    if made.commit is None:
        raise AgentctlError(f"git made no commit: {made.said}", "mend what it names, then try again")
    return repo
