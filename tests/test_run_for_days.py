"""What docs/run-for-days.md shows can be used as it stands."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest
import yaml

from agent.cli.main import cli
from agent.domain.pulse import BETWEEN
from agent.errors import Exit
from agent.model.client import LONGEST_CALL
from agent.worker.tools.base import LONGEST_TOOL
from tests.project import SOURCE

PAGE = (SOURCE / "docs/run-for-days.md").read_text("utf-8")
UNIT = PAGE.partition("<!-- unit -->")[2].partition("```ini\n")[2].partition("```")[0]


def blocks() -> list[str]:
    return re.findall(r"^```\w*\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd isn't here")
def test_the_unit_is_one_that_systemd_takes(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/agentctl"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = UNIT.replace("%h/.local/bin/agentctl", str(program)).replace("%h", str(tmp_path))
    (tmp_path / "agentctl.service").write_text(unit)
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(tmp_path / "agentctl.service")], check=False, capture_output=True, text=True)
    assert "agentctl.service" not in done.stderr, done.stderr


def test_systemd_starts_it_again_for_whatever_passes_by_itself_and_for_nothing_else() -> None:
    told = re.search(r"^RestartPreventExitStatus=(.*)$", UNIT, re.MULTILINE)
    assert told
    assert {int(word) for word in told[1].split()} == {int(code) for code in Exit} - {Exit.OK, Exit.UNAVAILABLE, Exit.INTERRUPTED, Exit.TERMINATED}
    assert "Type=notify" in UNIT


def test_every_command_of_ours_on_the_page_is_one() -> None:
    commands = re.findall(r"\bagentctl ((?:step|run|todo|status|log|cost|note|undo|doctor)\b[^#\n|>'`&]*)", "\n".join(blocks()))
    assert len(commands) > 10
    for line in commands:
        words = shlex.split(line)
        command = cli.get_command(click.Context(cli), words[0])
        assert command is not None
        known = {name for parameter in command.params for name in parameter.opts} | {"--because"}
        assert [word for word in words if word.startswith("--") and word not in known] == [], line


def test_the_workflow_is_yaml_and_lets_pass_what_is_no_failure() -> None:
    workflow = yaml.safe_load(PAGE.partition("<!-- workflow -->")[2].partition("```yaml\n")[2].partition("```")[0])
    steps = workflow["jobs"]["run"]["steps"]
    assert steps[0]["with"]["fetch-depth"] == 0
    assert "0|3|5|6)" in steps[-1]["run"]
    subprocess.run(["sh", "-n", "-c", steps[-1]["run"]], check=True)


def test_the_times_that_the_page_names_are_those_of_the_code() -> None:
    assert f"a model call {round(LONGEST_CALL / 60)} minutes" in PAGE
    assert (LONGEST_TOOL, BETWEEN) == (600, 600)
    assert "a command ten" in PAGE
