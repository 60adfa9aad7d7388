from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cases.adapter import play
from tests.project import Project

Case = Callable[[str], Project]


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    """Plays a script and gives the place where it ended, with what it exported in force."""

    def begin(script: str) -> Project:
        played = play(script, tmp_path / "case")
        for name in set(os.environ) - set(played.environment):
            if name.startswith(("GIT_", "HOME", "XDG_", "TIKTOKEN_")):
                monkeypatch.delenv(name)
        for name, value in played.environment.items():
            if os.environ.get(name) != value:
                monkeypatch.setenv(name, value)
        recording = tmp_path / "replies.yaml"
        monkeypatch.setenv("AGENTCTL_MODEL", f"scripted:{recording}")
        return Project(played.root, recording)

    return begin
