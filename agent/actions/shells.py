"""The shells of a step, for its worker and for its checks, in the sandbox that the config asks for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from agent.actions.commits import WORKER
from agent.domain.config import SandboxSettings, sandbox_kind
from agent.repository.repo import FOLDER, Repo
from agent.worker.sandbox.choice import choose
from agent.worker.sandbox.confines import confine
from agent.worker.scratch import scratch_folder
from agent.worker.shell import Shell, clean_environment


@dataclass(frozen=True)
class Shells:
    """Where commands are run: the worker's share a home folder and a /tmp for the step, each check begins with empty ones."""

    work: Shell
    checks: Shell

    @property
    def weaker(self) -> str:
        """The name of the sandbox where it keeps commands from less than it should, as a note says it; else ""."""
        sandbox = self.work.sandbox
        return sandbox.name if sandbox.gaps else ""


@contextmanager
def open_shells(repo: Repo, settings: SandboxSettings) -> Iterator[Shells]:
    """The shells for a step in `repo`. Raises AgentctlError where commands can't be confined as `settings` want it."""
    sandbox = choose(sandbox_kind(settings, os.environ))
    with scratch_folder() as scratch:
        confines = confine(repo.top, protected(repo), scratch, settings, os.environ)
        environment = {**clean_environment(os.environ), **{name: os.environ[name] for name in settings.env if name in os.environ}}
        checks = Shell(repo.root, environment, sandbox, confines, settings)
        yield Shells(replace(checks, env={**environment, **WORKER}, kept=scratch), checks)


def protected(repo: Repo) -> list[Path]:
    """What commands may read but never change: git's own folders, those of submodules, and `.agent/`."""
    links = [repo.root / link / ".git" for link in repo.gitlinks()]
    return [repo.top / ".git", repo.git_dir, repo.common_dir, repo.root / FOLDER, *links]
