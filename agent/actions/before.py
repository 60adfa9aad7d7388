"""What the checks say of the commit that a step begins from; asked once for each tree."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence

from agent.domain.events import CheckEnded, Listener
from agent.durable import write_whole
from agent.errors import AgentctlError
from agent.gate.checks import run_checks
from agent.gate.protocol import CheckResult
from agent.repository.repo import FOLDER, Repo

_REMEMBERED = 50  # trees


def red_before(repo: Repo, commit: str, commands: Sequence[str], timeout: float, listen: Listener) -> frozenset[str]:
    """Those of `commands` that fail on `commit`, whose files the work tree holds. Raises AgentctlError where a program is missing."""
    if not commands:
        return frozenset()
    key = code_key(repo, commit)
    known = _read(repo)
    asked = known.get(key, {})
    unknown = [command for command in commands if command not in asked]
    for result in run_checks(unknown, root=repo.root, timeout=timeout, listen=listen) if unknown else ():
        if result.missing:
            raise _missing(result)
        asked[result.command] = result.ok
    remember(repo, key, asked)
    return frozenset(command for command in commands if not asked.get(command, False))


def _missing(result: CheckResult) -> AgentctlError:
    program = result.command.split(" ")[0]
    return AgentctlError(
        f"the check `{result.command}` can't be run: {program} isn't there",
        "install it, or mend `checks:` in .agent/config.yaml (or in the item) and commit",
    )


def code_key(repo: Repo, commit: str) -> str:
    """A name for all files of `commit` but agentctl's own."""
    entries = [entry for entry in _top_level(repo, commit, "") if not repo.prefix or entry[1] != repo.prefix.split("/")[0]]
    if repo.prefix:
        entries += _top_level(repo, commit, repo.prefix)
    own = f"{repo.prefix}{FOLDER}"
    return hashlib.sha256("\n".join(f"{identity} {path}" for identity, path in entries if path != own).encode("utf-8", "surrogateescape")).hexdigest()


def _top_level(repo: Repo, commit: str, folder: str) -> list[tuple[str, str]]:
    out = repo.git.run("ls-tree", "-z", "--full-tree", commit, *(["--", folder] if folder else []))
    pairs = [line.partition("\t") for line in out.decode("utf-8", "surrogateescape").split("\0") if line]
    return [(meta.split(" ")[2], path) for meta, _, path in pairs]


def remember(repo: Repo, key: str, asked: dict[str, bool]) -> None:
    """Keep what checks said of a tree; losing it only costs time."""
    known = _read(repo)
    known.pop(key, None)
    known[key] = asked
    recent = dict(list(known.items())[-_REMEMBERED:])
    with contextlib.suppress(OSError):
        write_whole(repo.private / "cache" / "checks.json", json.dumps(recent).encode())


def _read(repo: Repo) -> dict[str, dict[str, bool]]:
    try:
        stored = json.loads((repo.private / "cache" / "checks.json").read_bytes())
        return {str(key): {str(command): bool(ok) for command, ok in asked.items()} for key, asked in stored.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def told_as_before(listen: Listener) -> Listener:
    """A listener for checks on the base commit: they are no verdict on the step."""

    def tell(event: object) -> None:
        if isinstance(event, CheckEnded):
            listen(CheckEnded(event.command, event.ok, f"before the step: {event.summary}", event.seconds))

    return tell
