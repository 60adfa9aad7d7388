from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.domain.config import SandboxSettings
from agent.worker.sandbox.choice import mechanisms, tried
from agent.worker.sandbox.protocol import Sandbox
from agent.worker.sandbox.trial import failing
from tests.escape.world import SECRET, World, world_around
from tests.project import Project

_GITCONFIG = "[credential]\n\thelper = !echo username=me; echo password={secret}; :\n"


def working(name: str) -> Sandbox:
    """The mechanism of that name; skips the test where this machine lacks it."""
    sandbox = next(one for one in mechanisms() if one.name == name)
    missing = sandbox.absent() or failing(sandbox, tried(name))
    if missing:
        pytest.skip(f"{name}: {missing}")
    return sandbox


@pytest.fixture
def furnished(project: Project, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A repository, and a home folder with what is kept in one."""
    own = tmp_path / "home"
    (own / ".ssh").mkdir(parents=True)
    shutil.copy(home / ".gitconfig", own)
    with (own / ".gitconfig").open("a") as config:
        config.write(_GITCONFIG.format(secret=SECRET))
    for name in (".ssh/id_rsa", ".netrc", ".npmrc"):
        (own / name).write_text(SECRET)
    for name, value in {"HOME": str(own), "SOME_API_KEY": SECRET, "SSH_AUTH_SOCK": f"/run/{SECRET}", "GIT_ASKPASS": f"/bin/{SECRET}"}.items():
        monkeypatch.setenv(name, value)
    return project


@pytest.fixture(params=["bubblewrap", "landlock"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Each mechanism that this machine has."""
    return working(request.param)


@pytest.fixture
def world(furnished: Project, sandbox: Sandbox) -> Iterator[World]:
    with world_around(furnished, SandboxSettings(kind=sandbox.name)) as made:
        yield made


@pytest.fixture
def open_world(furnished: Project) -> Iterator[World]:
    """A world without any sandbox."""
    with world_around(furnished, SandboxSettings(kind="none")) as made:
        yield made
