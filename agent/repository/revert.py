"""What a revert would give, computed without touching HEAD, index or work tree."""

from __future__ import annotations

import os

from msgspec import Struct

from agent.errors import AgentctlError
from agent.repository.git import GitError, probe
from agent.repository.repo import Repo

_MERGE_TREE = (2, 38)
# The commits made here are scaffolding for merge-tree, which wants commits and not trees; so they say nothing, and are the same each time.
_NOBODY = {
    f"GIT_{role}_{field}": value for role in ("AUTHOR", "COMMITTER") for field, value in (("NAME", "agentctl"), ("EMAIL", "<>"), ("DATE", "@0 +0000"))
}


class Reverted(Struct, frozen=True):
    """The tree that a revert gives, and the paths (relative to the top) in which it conflicts."""

    tree: str
    conflicts: tuple[str, ...]
    clean: bool


def without(repo: Repo, commit: str, tree: str) -> Reverted:
    """`tree` without what `commit` (which has one parent) changed: the same three-way merge that `git revert` makes.

    Raises AgentctlError where git is too old for that.
    """
    ours = _scaffold(repo, commit, tree)
    theirs = _scaffold(repo, commit, f"{commit}^^{{tree}}")
    try:
        out = repo.git.run("merge-tree", "--write-tree", "--name-only", "--messages", "-z", ours, theirs, ok=(0, 1))
    except GitError:
        version = git_version(repo)
        if version >= _MERGE_TREE:
            raise
        shown = ".".join(map(str, version))
        raise AgentctlError(f"undo wants git 2.38 or newer, and this is {shown}", f"git revert {commit}, by hand: it does just as well") from None
    result, *fields = os.fsdecode(out).split("\0")
    end = fields.index("")  # an empty field ends the paths; then come the messages: a kind of conflict stands in one of them
    conflicts = tuple(dict.fromkeys(fields[:end]))
    return Reverted(result, conflicts, clean=not conflicts and not any(field.startswith("CONFLICT") for field in fields[end:]))


def _scaffold(repo: Repo, parent: str, tree: str) -> str:
    return repo.git.run("commit-tree", tree, "-p", parent, "-m", "scaffold", env=_NOBODY).decode().strip()


def parents(repo: Repo, commit: str) -> tuple[str, ...]:
    """The parents of `commit`; none for a root, and none where a shallow clone is cut off."""
    return tuple(repo.git.run("rev-list", "--parents", "--max-count=1", commit).decode().split()[1:])


def cut_off(repo: Repo) -> frozenset[str]:
    """The commits whose parents a shallow clone lacks."""
    try:
        return frozenset((repo.common_dir / "shallow").read_text("ascii").split())
    except OSError:
        return frozenset()


def git_version(repo: Repo) -> tuple[int, ...]:
    """The version of git, (2, 39); empty where it can't be read."""
    words = probe(repo.top, "version")[1].split()
    numbers = words[2].split(".")[:2] if len(words) > 2 else []  # noqa: PLR2004 - "git version 2.39.5"
    return tuple(int(number) for number in numbers if number.isdigit())
