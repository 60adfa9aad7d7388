"""One commit on the branch at HEAD: by `git commit` where a program of somebody's is to see it, else by the two commands that are enough."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol

from agent.repository.git import GitError
from agent.repository.repo import Repo
from agent.repository.snapshot import own_index


class Way(Protocol):
    """Commits `tree` on top of `ground`, where HEAD has to be, with `dated` in the environment: whether it did, and what was said.

    The message is tidied as by `git commit --cleanup=whitespace`. Raises GitError where a signal ended git before HEAD had moved on, and Untrusted
    where the repository would start something that nobody has approved.
    """

    def __call__(self, repo: Repo, ground: str | None, tree: str, message: str, dated: Mapping[str, str]) -> tuple[bool, str]: ...


def way_to_commit(repo: Repo, ground: str | None) -> Way:
    """The one that starts what a person's own commit would start. The first commit of a branch is left to git."""
    return _with_programs if ground is None or repo.programs.see_commits() else _alone


def _with_programs(repo: Repo, ground: str | None, tree: str, message: str, dated: Mapping[str, str]) -> tuple[bool, str]:
    with own_index(repo, tree) as own:
        status, said = commit_as_person(repo, ground, "--cleanup=whitespace", f"--message={message}", env={**own, **dated})
    return status == 0, said


def commit_as_person(repo: Repo, ground: str | None, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> tuple[int, str]:
    """`git commit ARGS` with the person's hooks and signing: exit code, and what was printed.

    Where a signal ended git once HEAD had moved on from `ground`, the commit is made; before that, GitError is raised.
    """
    try:
        return repo.git.run_as_person("commit", "--quiet", *args, stdin=stdin, env=env)
    except GitError as error:
        if repo.head() == ground:
            raise
        return 0, error.said


def _alone(repo: Repo, ground: str | None, tree: str, message: str, dated: Mapping[str, str]) -> tuple[bool, str]:
    """Without an index, which takes what its size says: git would look at all files for it, for nobody."""
    repo.programs.refuse()
    if ground is None or repo.commit(ground).tree == tree:
        return False, "nothing to commit"
    text = _tidied(message)
    subject = text.partition("\n")[0]
    try:
        commit = repo.git.run("commit-tree", tree, "-p", ground, stdin=text.encode("utf-8", "surrogateescape"), env=dated).decode().strip()
        repo.git.run("update-ref", "-m", f"commit: {subject}", "HEAD", commit, ground, env=dated)
    except GitError as error:
        if error.status < 0 and repo.head() == ground:
            raise
        return error.status < 0, error.said
    return True, ""


def _tidied(message: str) -> str:
    """As `git stripspace`: no blanks at the ends of lines, no empty lines at either end, and never two in a row."""
    lines = "\n".join(line.rstrip(" \t\r") for line in message.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", lines).strip("\n") + "\n"
