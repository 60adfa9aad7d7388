"""A new repository, for the demo."""

from __future__ import annotations

from pathlib import Path

from agent.errors import AgentctlError
from agent.repository.git import probe
from agent.repository.repo import Repo, discover


def create(folder: Path, *, name: str, email: str) -> Repo:
    """A new repository in `folder`, whose commits are by `name` whatever the person's own config says."""
    status, _, said = probe(folder, "init", "--quiet", "--initial-branch=main")
    if status != 0:
        raise AgentctlError(f"git init failed: {said}", "mend what git names, then try again")
    repo = discover(folder)
    for key, value in (("user.name", name), ("user.email", email), ("commit.gpgSign", "false")):
        repo.git.run("config", key, value)
    return repo
