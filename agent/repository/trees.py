"""The trees that the work tree makes of a commit, without touching the person's index."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence

from agent.repository.git import listing
from agent.repository.graft import Entry, graft
from agent.repository.reached import misread
from agent.repository.repo import Repo
from agent.repository.snapshot import entries_of, index_lines


class Trees:
    """The trees that the work tree of `repo` makes, one after another: as long as nothing has changed, git only looks at sizes and times.

    Close it at the end: what git has seen is in an index of this process, which holds no more files than were asked for.
    """

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
        self._index = repo.private / f"work-{os.getpid()}-seen.index"
        self._env = {"GIT_INDEX_FILE": str(self._index)}
        self._asked: object = None
        self._tree = ""

    def tree(self, ground: str, changed: Iterable[str], new: Iterable[str], without: Iterable[str] = ()) -> str:
        """The tree that the work tree makes of commit `ground`: of its files those named by `changed` as they are now, and the `new` paths.

        Paths are relative to the top. Those in `without` are as in `ground`, and so are those that no handle reaches as a file or link; what is
        staged counts for nothing. A new path that isn't there, or that leads through a link, is left out.
        """
        wanted, kept = set(new), set(without)
        paths = sorted({*changed, *wanted} - kept)
        there = [path for path in paths if self._repo.work.look(path)]
        asked = ground, paths, there
        if asked != self._asked or not self._as_seen():
            self.close()
            base = entries_of(self._repo, ground, paths)
            found = self._taken_up(base, [path for path in there if path in wanted and path not in base])
            put = {path: found.get(path) for path in {**base, **found} if found.get(path) != base.get(path)}
            self._tree = graft(self._repo, ground, put) if put else self._repo.commit(ground).tree
            self._asked = asked
        return self._tree

    def _taken_up(self, base: Mapping[str, Entry], new: Sequence[str]) -> Mapping[str, Entry | None]:
        """What git makes of the files that `base` has, and of `new` ones."""
        git, env = self._repo.git, self._env
        self._repo.private.mkdir(parents=True, exist_ok=True)
        sparse = ["--sparse"] if (self._repo.git_dir / "info" / "sparse-checkout").exists() else []  # else what lies beside it is left out
        if base:
            git.run("update-index", "-z", "--index-info", stdin=index_lines(base, base, next(iter(base.values()))[1]), env=env)
            git.run("add", *sparse, "--update", "--ignore-errors", "--", ".", env=env, ok=(0, 1))
        if new:
            git.run("add", *sparse, "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=listing(new), env=env, ok=(0, 1))
        told = (line.partition("\t") for line in os.fsdecode(git.run("ls-files", "--stage", "-z", env=env)).split("\0") if line)
        entries = {path: (meta[:6], meta.split(" ")[1]) for meta, _, path in told}
        found = {path: entries[path] for path in (*base, *new) if path in entries}
        return {**found, **misread(self._repo, base, found)}

    def _as_seen(self) -> bool:
        return self._repo.git.status("diff-files", "--quiet", "--ignore-submodules=dirty", env=self._env) == 0

    def close(self) -> None:
        """Nothing is remembered any more."""
        self._asked = None
        self._index.unlink(missing_ok=True)
        self._index.with_name(f"{self._index.name}.lock").unlink(missing_ok=True)  # of an agentctl with the same number that was killed


def tree_of_work(repo: Repo, ground: str, new: Iterable[str]) -> str:
    """One such tree, of all that differs from HEAD."""
    with contextlib.closing(Trees(repo)) as trees:
        return trees.tree(ground, repo.tracked().changed, new)
