"""The prepared repository with one item on its list."""

from __future__ import annotations

import pytest

from tests.project import Project


@pytest.fixture
def listed(project: Project) -> Project:
    project.items("Make add() add")
    return project
