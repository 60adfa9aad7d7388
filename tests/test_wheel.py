"""The wheel, installed into a fresh environment, brings templates and command along."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.project import SOURCE


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of commands of a fresh environment with our wheel; the dependencies are this environment's."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=SOURCE, check=True, capture_output=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    python = folder / "venv/bin/python"
    wheel = next(folder.glob("*.whl"))
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", str(wheel)], check=True)
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True, capture_output=True, text=True
    ).stdout.strip()
    Path(site, "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return folder / "venv/bin"


def _run(installed: Path, folder: Path, *args: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run([installed / "agentctl", *args], cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


def test_the_installed_wheel_runs_from_itself(installed: Path, tmp_path: Path) -> None:
    where = subprocess.run(
        [installed / "python", "-c", "import agent; print(agent.__file__)"], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    assert where.startswith(str(installed.parent))


def test_init_writes_its_templates_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    _run(installed, tmp_path, "init", "--goal", "A goal.", "--check", "true")
    assert "the agent never does" in (tmp_path / ".agent/config.yaml").read_text()
    assert (tmp_path / ".agent/goal.md").read_text() == "A goal.\n"


def test_the_demo_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    out = _run(installed, tmp_path, "demo", str(tmp_path / "till"))
    assert "no model is called" in out
    assert "3 of 3 done" in out
    assert "Why: Amounts must line up on the right" in out
