"""Sending work in progress to a remote, so that a lost machine loses no more than the tool call in flight."""

from __future__ import annotations

from collections.abc import Sequence

from agent.domain.text import one_line
from agent.errors import AgentctlError
from agent.repository.git import gist
from agent.repository.repo import Repo

_PATIENCE = 60.0  # seconds for one push


def refuse_unknown_remote(repo: Repo, remote: str) -> None:
    """Raise AgentctlError unless `remote` is the name of a remote of this repository: an address in its place could be anybody's."""
    known = repo.git.run("remote").decode("utf-8", "replace").split("\n")
    if remote not in known:
        there = ", ".join(name for name in known if name) or "none"
        raise AgentctlError(f"push_wip names {one_line(remote, 60)!r}, which is no remote here (there are: {there})", "git remote add NAME ADDRESS")


def send(repo: Repo, remote: str, ref: str) -> str:
    """Let `remote` have `ref` as it is here, going forward only; gives why that failed, "" where it didn't."""
    return _push(repo, [remote, f"{ref}:{ref}"])


def recall(repo: Repo, remote: str, ref: str) -> str:
    """Let `remote` forget `ref`; gives why that failed, "" where it didn't."""
    return _push(repo, ["--delete", remote, ref])


def _push(repo: Repo, words: Sequence[str]) -> str:
    """With the person's way of signing in, but without their hooks: those are meant for what they push themselves."""
    status, said = repo.git.run_as_person("-c", "core.hooksPath=/dev/null", "push", "--quiet", *words, timeout=_PATIENCE)
    return "" if status == 0 else gist(said) or "no answer in time"
