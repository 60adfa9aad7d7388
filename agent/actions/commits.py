"""Commits that appear while a step is at work: a worker's are taken back, people's may only add to `.agent/`."""

from __future__ import annotations

import os
from collections.abc import Mapping

from agent.domain.names import NoteName
from agent.errors import AgentctlError
from agent.repository.landing import take_back
from agent.repository.repo import FOLDER, Repo

_EMAIL = "worker@agentctl.invalid"
WORKER: Mapping[str, str] = {"GIT_COMMITTER_NAME": "agentctl worker", "GIT_COMMITTER_EMAIL": _EMAIL}
"""What tells a commit that a command of the worker made from one that a person made meanwhile."""


def taken_back(repo: Repo, head: str, before: str, ref: str) -> bool:
    """Move the branch back from `head` to `before` if a command of the worker moved it; the work tree stays, `ref` keeps `head`.

    The log of HEAD tells by whom it was moved: a commit, an amend and a reset alike.
    """
    moved_by = repo.git.run("log", "--walk-reflogs", "--max-count=1", "--format=%ge", "HEAD", ok=(0, 128)).decode("utf-8", "replace").strip()
    made_by = repo.git.run("log", "--max-count=1", "--format=%ce", head).decode("utf-8", "replace").strip()
    if _EMAIL not in (moved_by, made_by):
        return False
    repo.git.run("update-ref", "--end-of-options", ref, head)
    take_back(repo, head, before)
    return True


def ground_for(repo: Repo, base: str, item: str) -> str:
    """The commit to land on: `base`, or HEAD where people only added to `.agent/` since. Raises AgentctlError where they did more.

    A note about the very item says that somebody has decided about it meanwhile: that ends the step too.
    """
    head = repo.head()
    if head == base:
        return base
    if head is None or repo.git.status("merge-base", "--is-ancestor", base, head) != 0:
        raise AgentctlError("HEAD moved to another history while the step was at work", "agentctl step")
    fields = os.fsdecode(repo.git.run("diff-tree", "-r", "-z", "--no-renames", "--name-status", base, head)).split("\0")
    own = f"{repo.prefix}{FOLDER}/"
    changes = list(zip(fields[0::2], fields[1::2], strict=False))
    if any(letter != "A" or not path.startswith(own) for letter, path in changes):
        raise AgentctlError("HEAD moved while the step was at work, so its checks say nothing about what is there now", "agentctl step")
    told = [name for _, path in changes if (name := NoteName.parse(path.removeprefix(own))) and name.item == item]
    if told:
        raise AgentctlError(f"somebody has said that {item} is {told[-1].outcome} while the step was at work", "agentctl todo")
    return head


def refuse_other_branch(wanted: str | None, branch: str | None) -> None:
    """Raise AgentctlError where another `branch` is checked out than the step's."""
    if branch != wanted:
        raise AgentctlError(f"another branch was checked out during the step ({branch or 'none'})", f"git switch {wanted}")
