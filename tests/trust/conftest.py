from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import Project


@pytest.fixture
def clone(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A repository as it comes from somebody else: nothing of it is approved on this machine."""
    monkeypatch.delenv("AGENTCTL_TRUST")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return project
