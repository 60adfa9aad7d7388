"""Attempts to reach what lies outside the work tree through the file tools: each fails at once, and leaves no trace."""

from __future__ import annotations

import json
import os
import time

import pytest

from agent.domain.chat import ToolCall
from agent.repository.repo import discover
from agent.worker.tools import STEP_TOOLS, Desk, Result, perform, prepare
from agent.worker.workspace import Workspace
from tests.escape.paths import REACHES, Reach
from tests.escape.world import SECRET, World
from tests.racer import swapping

CONTENT = "x = 1\n"


def desk_in(world: World) -> Desk:
    repo = discover(world.project.root)
    return Desk(Workspace(repo.work, repo, lambda _: None))


def ask(desk: Desk, tool: str, path: str) -> Result:
    """The tool's answer about `path`, as the model gets it."""
    args = {"path": path, "content": CONTENT, "old": "herring", "new": "x", "pattern": "herring|x"}
    spec = STEP_TOOLS[tool].spec
    call = ToolCall("1", tool, json.dumps({name: args[name] for name in spec.parameters["properties"] if name in args}))
    ready = prepare(STEP_TOOLS, call)
    return ready if isinstance(ready, Result) else perform(ready, desk)


def by_name(world: World, reach: Reach) -> str:
    """What comes of it where the path is simply opened."""
    target = world.project.root / world.filled(reach.path)
    if reach.tool in ("write", "edit"):
        target.write_text(CONTENT)
        return ""
    if reach.tool == "list":
        return " ".join(os.listdir(target))  # noqa: PTH208 - names only
    return "".join(file.read_text(errors="replace") for file in ([target] if target.is_file() else target.iterdir()) if file.is_file())


@pytest.mark.parametrize("reach", REACHES, ids=lambda one: one.name)
def test_the_attempt_fails_at_once_and_leaves_no_trace(open_world: World, reach: Reach) -> None:
    open_world.run(reach.prepare)
    before, began = open_world.trace(), time.monotonic()
    result = ask(desk_in(open_world), reach.tool, open_world.filled(reach.path))
    assert time.monotonic() - began < 10
    assert reach.sign not in result.text.replace(open_world.filled(reach.path), "")
    assert not (reach.refused and result.ok), result.text
    assert open_world.trace() == before


@pytest.mark.parametrize("reach", [one for one in REACHES if one.bare], ids=lambda one: one.name)
def test_by_its_name_the_path_leads_there(open_world: World, reach: Reach) -> None:
    """So that no attempt fails for a reason of its own."""
    open_world.run(reach.prepare)
    before = open_world.trace()
    told = by_name(open_world, reach)
    assert reach.sign in told or open_world.trace() != before


def test_a_folder_that_is_swapped_for_a_link_all_the_time_leads_no_tool_outside(open_world: World) -> None:
    open_world.run("mkdir sub; echo 'inside' > sub/precious; git add sub; ln -s {outside} way")
    before, desk = open_world.trace(), desk_in(open_world)
    with swapping(open_world.project.root / "sub", open_world.project.root / "way"):
        for number in range(20):
            told = [ask(desk, tool, path) for tool in ("read", "edit", "write") for path in ("sub/precious", f"sub/{number}")]
            told += [ask(desk, tool, path) for tool in ("list", "search") for path in ("", "sub")]
            assert not [result.text for result in told if SECRET in result.text or f"precious {len(SECRET)}" in result.text]
    assert open_world.trace() == before
