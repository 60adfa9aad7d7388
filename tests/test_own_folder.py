"""The project is worked on with its own list, and its prompts are as small as they claim to be."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from agent.model.tokens import count
from agent.templates import template
from agent.worker.tools import PLAN_TOOLS, STEP_TOOLS
from tests.project import SOURCE, Project


def test_the_projects_own_folder_passes_its_doctor(tmp_path: Path) -> None:
    subprocess.run(["git", "clone", "--quiet", "--no-local", str(SOURCE), str(tmp_path / "clone")], check=True, capture_output=True)
    project = Project(tmp_path / "clone", tmp_path / "none")
    project.git("switch", "--quiet", "--create", "doctor")
    ran = project.agentctl("doctor", "--json")
    assert ran.code == 0, ran.out
    assert [one for one in ran.json if one["level"] == "error"] == []
    assert project.agentctl("todo", "--json").json


def test_the_fixed_part_of_a_call_is_under_1500_tokens() -> None:
    for prompt, tools in (("system.md", STEP_TOOLS), ("plan.md", PLAN_TOOLS)):
        schemas = [{"name": t.spec.name, "description": t.spec.description, "parameters": dict(t.spec.parameters)} for t in tools.values()]
        assert count(template(prompt)) + count(json.dumps(schemas, separators=(",", ":"))) < 1500
