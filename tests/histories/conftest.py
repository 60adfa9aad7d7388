"""A repository with two items and no checks, and worlds made of copies of it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from agent.repository import facts
from tests.histories.world import World
from tests.project import Project


@pytest.fixture(scope="session")
def seed(prepared: Path, home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository to copy; `home` is its environment's."""
    root = tmp_path_factory.mktemp("seed") / "repo"
    shutil.copytree(prepared, root, symlinks=True)
    project = Project(root, root.parent / "replies.yaml")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        project.write(".agent/config.yaml", "limits:\n  attempts: 3\n")
        project.commit("No checks")
        project.items("Fix it", "Add a test")
    return root


@pytest.fixture(autouse=True)
def always_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small histories are kept too, so that the cache has a say if it ever could."""
    monkeypatch.setattr(facts, "_WORTH_KEEPING", -1.0)


@pytest.fixture
def world(seed: Path, tmp_path: Path) -> World:
    return world_in(tmp_path, seed)


def world_in(folder: Path, seed: Path) -> World:
    """A copy of `seed` in `folder`; its model is a recording that the operations write."""
    recording = folder / "replies.yaml"
    os.environ["AGENTCTL_MODEL"] = f"scripted:{recording}"
    shutil.copytree(seed, folder / "repo", symlinks=True)
    return World(Project(folder / "repo", recording))
