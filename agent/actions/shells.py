"""The shells of a step, for its worker and for its checks, in the sandbox that the config asks for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from agent.actions.commits import WORKER
from agent.approvals import VARIABLE
from agent.domain.config import NO_SANDBOX, SandboxSettings, sandbox_kind
from agent.errors import AgentctlError
from agent.personal import own_folders
from agent.places import state_folder
from agent.repository.repo import FOLDER, Repo
from agent.worker.sandbox.choice import choose
from agent.worker.sandbox.confines import confine
from agent.worker.sandbox.findings import Findings
from agent.worker.sandbox.inside import is_below
from agent.worker.sandbox.protocol import Confines, Sandbox
from agent.worker.scratch import scratch_folder
from agent.worker.shell import Shell, clean_environment


class Shells(Struct, frozen=True):
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
    with scratch_folder() as scratch:
        confines = confine(repo.top, protected(repo), scratch, settings, os.environ)
        sandbox = choose(sandbox_kind(settings, os.environ), findings_for(os.environ, (confines.tree, *confines.write)).trial)
        _refuse_reachable(sandbox, confines)
        environment = {**clean_environment(os.environ), **{name: os.environ[name] for name in settings.env if name in os.environ}}
        checks = Shell(repo.root, environment, sandbox, confines, settings)
        yield Shells(replace(checks, env={**environment, **WORKER}, kept=scratch), checks)


def _refuse_reachable(sandbox: Sandbox, confines: Confines) -> None:
    """Raise AgentctlError where what a command may write to holds what a person has approved, for this clone or for another."""
    if sandbox.name == NO_SANDBOX or os.environ.get(VARIABLE):
        return
    for folder in own_folders(os.environ):
        if is_below(folder, (confines.tree, *confines.write)) or any(is_below(one, (folder,)) for one in confines.write):
            raise AgentctlError(
                f"commands could write into {folder}, where your own settings and approvals lie",
                "set XDG_STATE_HOME and XDG_CONFIG_HOME to folders that lie neither in the work tree nor under sandbox: write:",
            )


def findings_for(environment: Mapping[str, str], writable: Iterable[Path] = ()) -> Findings:
    """What is known of sandboxes on this person's machine, but where it lies in what commands may write to."""
    folder = state_folder(environment)
    return Findings(folder / "sandbox" if folder else None, writable)


def protected(repo: Repo) -> list[Path]:
    """What commands may read but never change: git's own folders, those of submodules, and `.agent/`."""
    links = [repo.root / link / ".git" for link in repo.gitlinks()]
    return [repo.top / ".git", repo.git_dir, repo.common_dir, repo.root / FOLDER, *links]
