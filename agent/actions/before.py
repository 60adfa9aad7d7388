"""What the checks say of the commit that a step begins from; asked once for each tree."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from msgspec import convert, to_builtins
from msgspec.structs import replace

from agent.cache import keep, kept
from agent.domain.events import CheckEnded, Event, Listener
from agent.errors import AgentctlError
from agent.gate.checks import run_checks
from agent.gate.protocol import Baseline, CheckResult
from agent.repository.objects import entries
from agent.repository.repo import FOLDER, Repo
from agent.worker.shell import Shell

_VERSION = 4  # of the cache's shape
_REMEMBERED = 20  # trees


def checks_before(
    repo: Repo, commit: str, commands: Sequence[str], shell: Shell, timeout: float, listen: Listener, ran: Callable[[], None]
) -> dict[str, Baseline]:
    """What `commands` say of `commit`, whose files the work tree holds; one that was never run, as another took too long, is not among them.

    `ran` is called after those that had to be run. Raises AgentctlError where a program is missing.
    """
    if not commands:
        return {}
    key = code_key(repo, commit, shell.told)
    asked = _read(repo).get(key, {})
    unknown = [command for command in commands if command not in asked]
    if unknown:
        for result in run_checks(unknown, shell=shell, timeout=timeout, listen=listen):
            if result.missing:
                raise _missing(result)
            asked[result.command] = Baseline(result.ok, result.tally)
        ran()
        remember(repo, key, asked)
    return {command: asked[command] for command in commands if command in asked}


def _missing(result: CheckResult) -> AgentctlError:
    program = result.command.split(" ")[0]
    return AgentctlError(
        f"the check `{result.command}` can't be run: {program} isn't there",
        "install it, or mend `checks:` in .agent/config.yaml (or in the item) and commit",
    )


def code_key(repo: Repo, commit: str, how: str) -> str:
    """A name for all files of `commit`, and their modes, but agentctl's own folder (whatever else lies beside it counts), and for `how` checks are run."""
    steps = [*PurePosixPath(repo.prefix).parts, FOLDER]
    folders = repo.git.objects.contents([f"{commit}:{'/'.join(steps[:place])}" for place in range(len(steps))])
    beside = [entry for folder, own in zip(folders, steps, strict=True) if folder for entry in entries(folder) if entry[1] != os.fsencode(own)]
    return hashlib.sha256(b"\0".join([how.encode(), *(part for entry in beside for part in entry)])).hexdigest()


def remember(repo: Repo, key: str, asked: Mapping[str, Baseline]) -> None:
    """Keep what checks said of a tree; losing it only costs time."""
    known = _read(repo)
    known.pop(key, None)
    known[key] = dict(asked)
    recent = list(known.items())[-_REMEMBERED:]
    keep(_cache(repo), to_builtins(dict(recent)))


def forget(repo: Repo) -> None:
    """Ask the checks anew of every tree: what they run has changed, and not by a commit."""
    with contextlib.suppress(OSError):
        _cache(repo).unlink(missing_ok=True)


def _read(repo: Repo) -> dict[str, dict[str, Baseline]]:
    """What is kept; nothing where it is damaged or of another shape."""
    try:
        return convert(kept(_cache(repo)), dict[str, dict[str, Baseline]])
    except ValueError:
        return {}


def _cache(repo: Repo) -> Path:
    return repo.private / "cache" / f"checks-{_VERSION}.json"


def told_as(what: str, listen: Listener) -> Listener:
    """A listener for commands that are `what` ("before the step", "setup"), and no verdict on the step."""

    def tell(event: Event) -> None:
        listen(replace(event, summary=f"{what}: {event.summary}") if isinstance(event, CheckEnded) else event)

    return tell
