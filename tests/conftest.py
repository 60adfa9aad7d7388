"""A hermetic environment, and a prepared repository that each test gets a copy of."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.project import CHECK, Project

# The same examples in every run, and no deadline: the machines of CI are noisy.
settings.register_profile("steady", derandomize=True, deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

_GITCONFIG = (
    "[user]\n\tname = Test User\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
)
_SECRETS = ("KEY", "TOKEN", "SECRET", "PASSWORD")


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder with nothing in it but an identity for git."""
    folder = tmp_path_factory.mktemp("home")
    (folder / ".gitconfig").write_text(_GITCONFIG)
    return folder


@pytest.fixture(autouse=True)
def hermetic(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the person's home, git config, keys or agentctl settings."""
    for name in list(os.environ):
        if name.startswith(("GIT_", "AGENTCTL_", "XDG_")) or any(word in name.upper() for word in _SECRETS):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("AGENTCTL_WARM", "0")
    monkeypatch.setenv("AGENTCTL_TRUST", "yes")  # as in a container; tests/trust takes it away
    monkeypatch.setenv("GIT_TEST_FSYNC", "0")  # git's own switch: its tests too don't wait for the disk


@pytest.fixture(scope="session")
def prepared(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a wrong add(), a check that says so, and `.agent/` without items."""
    root = tmp_path_factory.mktemp("prepared") / "repo"
    environment = {**os.environ, "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}
    project = Project(root, root.parent / "replies.yaml")
    subprocess.run(["git", "init", "--quiet", str(root)], check=True, env=environment)
    project.write("calc.py", "def add(a, b):\n    return a - b\n")
    project.write("check.sh", f"{CHECK}\n")
    project.write(".agent/config.yaml", "checks:\n  - sh check.sh\n")
    project.write(".agent/goal.md", "A calculator that is right.\n")
    project.write(".agent/.gitattributes", "* text eol=lf\n")
    project.write(".agent/README.md", "What this folder is.\n")
    project.git("add", ".", env=environment)
    project.git("commit", "--quiet", "-m", "seed", env=environment)
    return root


@pytest.fixture
def project(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A copy of the prepared repository; its model is a recording that the test writes."""
    root = tmp_path / "repo"
    shutil.copytree(prepared, root, symlinks=True)
    recording = tmp_path / "replies.yaml"
    monkeypatch.setenv("AGENTCTL_MODEL", f"scripted:{recording}")
    return Project(root, recording)


@pytest.fixture
def unconfined(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests in which a command plays a person, or reaches what a test has put outside of the repository: no sandbox keeps it from that."""
    monkeypatch.setenv("AGENTCTL_SANDBOX", "none")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's config, for this test alone: who they are, and nothing about packing."""
    file = tmp_path / "gitconfig"
    file.write_text("[user]\n\tname = Test User\n\temail = test@example.invalid\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(file))
    return file
