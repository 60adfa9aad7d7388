"""Files of a commit written into the work tree: by git, filters and all, into a folder of our own, and from there by handles.

git itself looks at the folders above a file and then opens it by its name, so a link that is swapped in between leads it elsewhere.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent.domain.text import first_of
from agent.errors import AgentctlError
from agent.repository.git import GitError, gist, listing
from agent.repository.repo import Repo
from agent.repository.snapshot import entries_of, index_lines, own_index

STAGE = "stage-"
"""How the names of folders in `Repo.private` begin that nobody needs once their process is gone."""

_ATTRIBUTES = ".gitattributes"
_TOLD, _WIDTH = 3, 60


def write_out(repo: Repo, tree: str, paths: Sequence[str]) -> None:
    """Make files that `tree` holds at `paths` what they are there, filters and mode included, in the stead of whatever is in their way.

    The person's index is not touched. Raises AgentctlError that names those which can't be written; the others are.
    """
    stuck: list[str] = []
    said = ""
    with own_index(repo, tree) as own, tempfile.TemporaryDirectory(prefix=STAGE, dir=repo.private) as stage:
        for some in _attributes_first(paths):
            try:
                repo.git.run("checkout-index", f"--prefix={stage}/", "-z", "--stdin", stdin=listing(some), env=own)
            except GitError as error:  # a filter that fails, say: the files before it are there
                said = f" ({gist(error.said)})"
            stuck += [path for path in some if not _put(repo, path, Path(stage, path))]
    if stuck:
        raise AgentctlError(f"can't be written: {first_of(stuck, _TOLD, _WIDTH)}{said}", "see who may write there, and git status")


def _attributes_first(paths: Sequence[str]) -> list[list[str]]:
    """In two portions, as git asks the work tree which filters are meant."""
    first = [path for path in paths if path.rpartition("/")[2] == _ATTRIBUTES]
    return [some for some in (first, [path for path in paths if path not in first]) if some]


def _put(repo: Repo, path: str, source: Path) -> bool:
    try:
        repo.work.put(path, source)
    except OSError:
        return False
    return True


def put_back(repo: Repo, paths: Sequence[str], commit: str) -> None:
    """Make `paths` what they are in `commit`, index and work tree; those that it doesn't hold go. Raises AgentctlError as `write_out`."""
    if not paths:
        return
    there = entries_of(repo, commit, paths)
    _set_index(repo, paths, there)
    for path in paths:
        if path not in there:
            repo.work.remove(path)
    write_out(repo, commit, list(there))
    _refresh(repo, list(there))


def look_again(repo: Repo, paths: Sequence[str], commit: str) -> None:
    """Let the index say of `paths` what `commit` says, with the size and time that each file has; the work tree stays.

    git takes a file of another size for a changed one without asking the filters (read-cache.c, `ie_modified`), unless it knows no size.
    """
    there = entries_of(repo, commit, paths)
    _set_index(repo, paths, there)
    _refresh(repo, list(there))


def take_up(repo: Repo, paths: Sequence[str]) -> list[str]:
    """Let the index say of `paths` what the work tree holds, size and time included, in one go; gives those of which HEAD says something else."""
    with contextlib.suppress(GitError):  # one can't be read, say
        repo.git.run("update-index", "--add", "--remove", "--replace", "-z", "--stdin", stdin=listing(paths))
    told = repo.git.run("diff-index", "--cached", "-z", "--name-only", "--no-renames", "--ignore-submodules=none", "HEAD")
    return sorted({*paths}.intersection(os.fsdecode(told).split("\0")))


def unstage(repo: Repo, paths: Sequence[str]) -> None:
    """Let the index say of `paths` what HEAD says; the work tree stays."""
    head = repo.head()
    if head is not None:
        look_again(repo, paths, head)
        return
    repo.git.run("rm", "--cached", "-r", "-q", "--ignore-unmatch", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=listing(paths))


def _set_index(repo: Repo, paths: Sequence[str], entries: Mapping[str, tuple[str, str]]) -> None:
    if paths:
        repo.git.run("update-index", "-z", "--index-info", stdin=index_lines(paths, entries, repo.head() or ""))


def _refresh(repo: Repo, paths: Sequence[str]) -> None:
    if paths:
        with contextlib.suppress(AgentctlError):  # git then only takes longer to see that nothing has changed
            repo.git.run("add", "--refresh", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=listing(paths))
