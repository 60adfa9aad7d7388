"""A bug of ours ends in exit code 70, two lines and a file, and the state is safe."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import ADDS, SOURCE, Project, finish, reply

_BREAKS = """\
import itertools, os
calls, real = itertools.count(1), os.fsync
def fsync(handle):
    if next(calls) == 6:
        raise KeyError('half a disk, ' + os.environ['SOME_API_KEY'])
    real(handle)
os.fsync = fsync
"""


@pytest.fixture
def broken(project: Project, tmp_path: Path) -> dict[str, str]:
    """A system whose fsync breaks once in the middle of a step, in a way that nobody foresaw."""
    project.items("Make add() add")
    project.record({"make-add-add": [[reply(ADDS, finish())]]})
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/sitecustomize.py").write_text(_BREAKS)
    return {"PYTHONPATH": f"{tmp_path / 'broken'}:{SOURCE}", "SOME_API_KEY": "sk-ant-0123456789abcdef0123", "XDG_STATE_HOME": str(tmp_path / "state")}


def test_a_bug_leaves_a_report_without_keys_and_a_clean_tree(project: Project, tmp_path: Path, broken: dict[str, str]) -> None:
    ran = project.interpreter("step", env=broken)
    assert ran.code == 70
    assert "Traceback" not in ran.err
    (report,) = (tmp_path / "state/agentctl/bugs").iterdir()
    assert f"please report it with {report}" in ran.err
    text = report.read_text("utf-8")
    assert "KeyError: 'half a disk, [redacted]'" in text
    assert "Traceback" in text
    assert "agentctl step" in text
    assert broken["SOME_API_KEY"] not in text + ran.err
    assert project.status() == ""
    assert project.agentctl("step").code == 0


def test_where_no_report_can_be_written_it_is_printed(project: Project, tmp_path: Path, broken: dict[str, str]) -> None:
    (tmp_path / "state").write_text("a file")
    ran = project.interpreter("step", env=broken)
    assert (ran.code, "Traceback" in ran.err, "report it with the lines above" in ran.err) == (70, True, True)
