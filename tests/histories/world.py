"""A real repository beside an oracle: every operation is done by git or agentctl in the one, and by sets in the other."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent.repository.repo import discover
from tests.histories.at import clock_at
from tests.histories.oracle import Files, Oracle
from tests.project import Project, Ran

_HOOK = '#!/bin/sh\ncat >> "$(git rev-parse --git-dir)/rewritten"\n'
COUNTS: Counter[str] = Counter()
"""What all worlds of this process did, for whoever runs many."""


class World:
    """`edited` are the files that a person changed; `costs` the money of each note; `ledgered` the notes whose calls the ledger here has."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.repo = discover(project.root)
        self.oracle = Oracle()
        self.branches = ["main", "b1"]
        self.edited: set[str] = set()
        self.costs: dict[str, float] = {}
        self.ledgered: set[str] = set()
        self.blobs: dict[str, set[str]] = {}
        self._clock = datetime(2026, 11, 29, 23, 50, tzinfo=UTC)
        hook = project.root / ".git/hooks/post-rewrite"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(_HOOK)
        hook.chmod(0o755)
        self._seed = self.head()
        project.git("branch", "b1")
        self.oracle.add(self._seed, (), frozenset(self.tree()))
        for path, blob in self.tree().items():
            self.blobs[path] = {blob}

    # --- reading -------------------------------------------------------------------------------------------------

    def git(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Plain git with default settings, whatever it answers."""
        return subprocess.run(
            ["git", *args], cwd=self.project.root, env={**os.environ, "GIT_EDITOR": "true"}, capture_output=True, text=True, check=False
        )

    def head(self) -> str:
        return self.project.head()

    def branch(self) -> str:
        return self.project.git("symbolic-ref", "--short", "HEAD").strip()

    def files(self) -> Files:
        """What HEAD holds, by the oracle."""
        return self.oracle.files(self.head())

    def tree(self) -> dict[str, str]:
        """What HEAD holds, by git: paths inside `.agent/` and their blobs."""
        lines = self.project.git("ls-tree", "-r", "-z", "HEAD", "--", ".agent").split("\0")
        return {line.partition("\t")[2].removeprefix(".agent/"): line.split()[2] for line in lines if line}

    def commits(self, *more: str) -> list[str]:
        """The commits up to HEAD, newest first, without those that were there before."""
        return self.project.git("rev-list", f"{self._seed}..HEAD", *more).split()

    def tick(self) -> datetime:
        """The next moment; no two operations share one."""
        self._clock += timedelta(seconds=7)
        return self._clock

    def skip(self, *, days: int) -> None:
        """Go on at another day."""
        self._clock += timedelta(days=days)

    # --- what adds to the history -----------------------------------------------------------------------------------

    def agentctl(self, *args: str) -> Ran:
        """agentctl in this process, at the next moment, and what it committed taken in."""
        with clock_at(self.tick()):
            ran = self.project.agentctl(*args)
        self.take_in()
        return ran

    def take_in(self) -> str | None:
        """Tell the oracle of a plain commit that is HEAD now; its newest note, if it brought one."""
        head = self.head()
        if head in self.oracle.points:
            return None
        parents = self.project.git("rev-parse", "HEAD^@").split()
        assert len(parents) == 1
        now, before = self.tree(), self.oracle.files(parents[0])
        notes = frozenset(path for path in now if path.startswith("notes/") and path not in before)
        for path, blob in now.items():
            self.blobs.setdefault(path, set()).add(blob)
        self.oracle.add(head, parents, frozenset(now), notes)
        return max(notes, default=None)

    # --- what git makes of it -------------------------------------------------------------------------------------

    def derive(self, files: Files, told: Files = frozenset()) -> None:
        """Tell the oracle that HEAD, unless it is known, holds `files`; git must say the same."""
        head = self.head()
        if head not in self.oracle.points:
            self.oracle.add(head, self.project.git("rev-parse", "HEAD^@").split(), files, told)
        tree = self.tree()
        assert set(tree) == files, f"git has {sorted(set(tree) - files)} more and {sorted(files - set(tree))} less"
        strange = [path for path, blob in tree.items() if path not in self.edited and blob not in self.blobs[path]]
        assert not strange, f"git put the text of another file into {strange}"

    def mend(self, done: subprocess.CompletedProcess[str]) -> Files:
        """After a git command that stopped: every conflict set to what HEAD has; gives those in `.agent/`, which must be a person's."""
        paths = {path for path in self.project.git("diff", "-z", "--name-only", "--diff-filter=U").split("\0") if path}
        own = frozenset(path.removeprefix(".agent/") for path in paths if path.startswith(".agent/"))
        COUNTS["conflicts in code"] += bool(paths) and not own
        COUNTS["conflicts where a person had edited"] += bool(own & self.edited)
        told = [line for line in done.stdout.splitlines() if line.startswith("CONFLICT") and ".agent/" in line]
        assert own <= self.edited, f"{done.args[1:]}: {told}"
        assert bool(told) == bool(own), told
        for path in paths:
            if self.git("cat-file", "-e", f"HEAD:{path}").returncode == 0:
                self.project.git("checkout", "HEAD", "--", path)
            else:
                self.project.git("rm", "--quiet", "--cached", "--ignore-unmatch", "--", path)
                (self.project.root / path).unlink(missing_ok=True)
        return own

    def go_on(self, verb: str) -> None:
        """End a pick or a revert that `mend` mended, or that turned out empty."""
        if self.git(verb, "--continue").returncode != 0:
            self.git(verb, "--skip")
        assert self.repo.operation() is None, self.project.status()
        assert self.project.status() == ""

    def as_head(self, files: Files, conflicts: Files) -> Files:
        """`files`, but in `conflicts` what HEAD has."""
        return (files - conflicts) | (self.files() & conflicts)

    def rewritten(self) -> dict[str, str]:
        """New commits to old, by git's own telling since the last call."""
        told = Path(self.project.root / ".git/rewritten")
        lines = told.read_text().splitlines() if told.exists() else []
        told.unlink(missing_ok=True)
        return {new: old for old, new in (line.split()[:2] for line in reversed(lines))}  # one that was dropped is told after the one it follows

    def told_in(self, commits: Iterable[str]) -> Files:
        """The notes whose trailers stand in the messages of `commits`."""
        return frozenset[str]().union(*(self.oracle.points[commit].told for commit in commits))
