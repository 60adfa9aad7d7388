"""A repository as agentctl needs it: where it is, whether it is safe to work in, commit, put back."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from agent.beneath import Beneath
from agent.errors import AgentctlError
from agent.repository.git import Git, GitError, gist, listing, probe
from agent.repository.locks import Place
from agent.repository.marks import Index
from agent.repository.objects import Commit
from agent.repository.programs import Programs
from agent.repository.reread import share_read
from agent.repository.search import Hit, grep
from agent.repository.status import Status, read_status
from agent.repository.torn import Torn, branch_in, refusal, torn_branch

FOLDER = ".agent"
_LONG = 500_000  # bytes of an index, of some 5,000 files: to write a shorter one takes no longer than to start git
_MANY = 0.01  # of the files in it: to read fewer again takes less than to write it
_BY_NAME = "?S"  # how ls-files marks what is not tracked, found by name in folders that may have been links just then, and what isn't checked out
_ELSEWHERE = ".invalid"  # what the file HEAD says where refs are kept in tables (gitrepository-layout(5))


class Entry(Struct, frozen=True):
    """A file in a commit's tree."""

    mode: str
    id: str
    path: str


_OPERATIONS = {
    "MERGE_HEAD": ("a merge", "git merge --continue, or git merge --abort"),
    "rebase-merge": ("a rebase", "git rebase --continue, or git rebase --abort"),
    "rebase-apply": ("a rebase", "git rebase --continue, or git rebase --abort"),
    "CHERRY_PICK_HEAD": ("a cherry-pick", "git cherry-pick --continue, or git cherry-pick --abort"),
    "REVERT_HEAD": ("a revert", "git revert --continue, or git revert --abort"),
    "BISECT_LOG": ("a bisect", "git bisect reset"),
}


class Repo:
    """One work tree. `root` is the folder that holds `.agent/` (or will); `prefix` leads from the top to it, "" or "apps/web/".

    Files of the work tree are read and written through `work`, by paths relative to the top.
    """

    def __init__(self, top: Path, git_dir: Path, common_dir: Path, root: Path) -> None:
        self.top = top
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.root = root
        self.prefix = "" if root == top else root.relative_to(top).as_posix() + "/"
        self.work = Beneath(top)
        self.place = Place(top, git_dir, common_dir)
        self.git = Git(self.place, lambda: self.programs)
        self.programs = Programs(self.place, self.git)
        self.cleaned: set[tuple[str, str, str]] = set()  # path, id of its bytes, and of what the filters make of them
        self._index = Index(self.git, git_dir)

    @property
    def private(self) -> Path:
        """The folder for this work tree's lock, journal and caches; not made here."""
        return self.git_dir / "agentctl"

    @property
    def shared(self) -> Path:
        """The folder for what all work trees of the repository share (the ledger); not made here."""
        return self.common_dir / "agentctl"

    # --- what is there -------------------------------------------------------------------------------------------

    def status(self) -> Status:
        """The state of HEAD, index and work tree, without looking into submodules."""
        return self._status("--untracked-files=normal")

    def look(self) -> Status:
        """As `status`, but with each untracked file that isn't ignored by itself, and none folded into its folder."""
        told = self._status("--untracked-files=all")
        return replace(told, untracked=tuple(path for path in told.untracked if self.work.look(path)))

    def survey(self) -> Status:
        """As `status`, with what is ignored: whatever isn't git's.

        What the index knows of sizes and times is brought up to date, as any `git status` does unless somebody else is at it: where it is of
        another disk (a copy, a cache of CI), each look would read every file again. A long one is left as it is if git had to read few files.
        """
        everything = ("--untracked-files=normal", "--ignored=traditional")
        if (self._index.state() or (0, 0, 0))[2] > _LONG:
            with tempfile.NamedTemporaryFile() as trace:
                status = self._status(*everything, env={"GIT_TRACE2_EVENT": trace.name})
                if share_read(trace.read()) < _MANY:
                    return status
        return self._status(*everything, env={"GIT_OPTIONAL_LOCKS": "1"})

    def tracked(self, *paths: str) -> Status:
        """As `status`, of tracked files alone: of those at `paths` (relative to the top), or of all."""
        return self._status("--untracked-files=no", "--", *paths)

    def _status(self, *how: str, env: Mapping[str, str] | None = None) -> Status:
        index = self._index.state()
        out = self.git.run("status", "--porcelain=v2", "--branch", "-z", "--ignore-submodules=dirty", "--no-renames", *how, env=env)
        status = replace(read_status(os.fsdecode(out).split("\0")), index=index)
        if status.head is None:
            self._refuse_torn()
        return status

    def head(self) -> str | None:
        """The commit that HEAD is at, None where there is none yet. Raises AgentctlError where a power cut tore the branch."""
        head = self.resolve("HEAD")
        if head is None:
            self._refuse_torn()
        return head

    def torn(self) -> Torn | None:
        """The branch at HEAD where a power cut tore it."""
        return torn_branch(self.git, self.git_dir, self.common_dir) if self.resolve("HEAD") is None else None

    def _refuse_torn(self) -> None:
        torn = torn_branch(self.git, self.git_dir, self.common_dir)
        if torn:
            raise refusal(torn)

    def resolve(self, revision: str) -> str | None:
        """The commit that `revision` names, or None."""
        if "\0" in revision or "\n" in revision:
            return None
        try:
            found = self.git.objects.facts([f"{revision}^{{commit}}"])[0]
        except GitError:
            return None
        return found and found.id

    def commit(self, name: str) -> Commit:
        """The commit that `name` names, which is there. Raises GitError where it isn't."""
        found = self.git.objects.commit(name)
        if found is None:
            raise GitError(("cat-file",), 1, f"fatal: {name} is no commit")
        return found

    def on_branch(self) -> bool:
        """Whether a branch holds what is committed, one without a commit yet included. Raises AgentctlError as `head`."""
        self.head()
        return self.branch() is not None

    def branch(self) -> str | None:
        """The branch that is checked out, None where HEAD is detached."""
        plain = branch_in(self.git_dir / "HEAD").removeprefix("refs/heads/")
        if plain and plain != _ELSEWHERE:
            return plain
        out = self.git.run("symbolic-ref", "--quiet", "--short", "HEAD", ok=(0, 1))
        return os.fsdecode(out).removesuffix("\n") or None

    def index_lock(self, patience: float) -> Path | None:
        """The lock of a git command that is at work on the index (or died there), if it is still held after `patience` seconds."""
        lock = self.git_dir / "index.lock"
        deadline = time.monotonic() + patience
        while lock.exists():
            if time.monotonic() > deadline:
                return lock
            time.sleep(0.05)
        return None

    def operation(self) -> tuple[str, str] | None:
        """A merge, rebase or the like under way, and how to end it; None where there is none."""
        return next((told for name, told in _OPERATIONS.items() if (self.git_dir / name).exists()), None)

    def identity(self) -> str | None:
        """Who commits would be by, None where git doesn't know. Raises AgentctlError where it can't tell the time that it is told."""
        try:
            if any(name.startswith(("GIT_AUTHOR_", "GIT_COMMITTER_")) for name in os.environ) or self.programs.tells_authors_apart():
                self.git.run("var", "GIT_COMMITTER_IDENT")  # else git knows both, or neither
            return self.git.run("var", "GIT_AUTHOR_IDENT").decode("utf-8", "replace").strip()
        except GitError as error:
            if "invalid date" in error.said:
                raise AgentctlError(f"git can't date a commit: {gist(error.said)}", "unset GIT_AUTHOR_DATE GIT_COMMITTER_DATE") from None
            return None

    def is_shallow(self) -> bool:
        """Whether history is cut off below some commit."""
        return (self.common_dir / "shallow").exists()

    def tree(self, revision: str, under: str = FOLDER) -> list[Entry]:
        """The files below `under` (relative to `root`) at `revision`, with paths relative to `root`."""
        out = self.git.run("ls-tree", "-r", "-z", "--full-tree", revision, "--", *self._spec(under))
        start = len(self.prefix)
        lines = (line.partition("\t") for line in os.fsdecode(out).split("\0") if line)
        return [Entry(meta[:6], meta.rpartition(" ")[2], path[start:]) for meta, _, path in lines]

    def tree_has(self, revision: str, path: str) -> bool:
        """Whether `revision` holds anything at `path` (relative to the top)."""
        return bool(self.git.run("ls-tree", "--full-tree", revision, "--", path))

    def index_state(self) -> object:
        """What tells the index from an earlier or later one."""
        return self._index.state()

    def hidden(self) -> frozenset[str]:
        """The files (relative to the top) whose changes git is told not to look at."""
        return self._index.hidden()

    def show(self, paths: Iterable[str]) -> None:
        """Have git look at `paths` (relative to the top) again."""
        listed = listing(sorted(paths))
        for mark in ("--no-assume-unchanged", "--no-skip-worktree") if listed else ():
            self.git.run("update-index", mark, "-z", "--stdin", stdin=listed)

    def is_hidden(self, path: str) -> bool:
        """Whether `path` (relative to `root`) is a tracked file whose changes git is told not to look at (assume-unchanged, skip-worktree)."""
        return self.prefix + path in self._index.hidden()

    def untracked_like(self, pattern: str) -> list[str]:
        """Untracked and ignored files (relative to the top) whose names match `pattern`."""
        out = self.git.run("ls-files", "-z", "--others", "--", pattern, env={"GIT_LITERAL_PATHSPECS": "0"})
        return [path for path in os.fsdecode(out).split("\0") if path]

    def blobs(self, ids: Sequence[str]) -> list[bytes | None]:
        """The contents of `ids` (object names or `REV:path`) in their order, None for what isn't there."""
        return [found and found.data for found in self.git.objects.contents(ids)]

    def there(self, ids: Sequence[str]) -> list[bool]:
        """Which of `ids` (object names or `REV:path`) are there, in their order."""
        return [found is not None for found in self.git.objects.facts(ids)]

    def files(self, under: str = "") -> list[str]:
        """Tracked and untracked files below `under` that git doesn't ignore, relative to `root`; submodules left out."""
        tagged = os.fsdecode(self.git.run("ls-files", "-t", "-z", "--cached", "--others", "--exclude-standard", "--", *self._spec(under))).split("\0")
        there = (line[2:] for line in tagged if line and (line[0] not in _BY_NAME or self.work.look(line[2:])))
        links = self.gitlinks()
        return sorted({path.removeprefix(self.prefix) for path in there if not path.endswith("/")} - links)

    def gitlinks(self) -> frozenset[str]:
        """The paths of submodules, relative to `root`."""
        return frozenset(path.removeprefix(self.prefix) for path in self._index.links() if path.startswith(self.prefix))

    def lately(self, commits: int) -> list[str]:
        """Paths that the last `commits` touched, relative to `root`, the latest first; without those of `.agent/`."""
        if not self.head():
            return []
        out = self.git.run("log", f"--max-count={commits}", "--format=", "--name-only", "--no-renames", "-z", "--", *self._spec(""))
        paths = (path.removeprefix(self.prefix) for path in os.fsdecode(out).split("\0") if path)
        return [path for path in dict.fromkeys(paths) if not path.startswith(f"{FOLDER}/")]

    def ignored(self, paths: Sequence[str]) -> dict[str, str]:
        """Those of `paths` (relative to `root`) that git ignores, with the rule: "FILE:LINE PATTERN"."""
        if not paths:
            return {}
        feed = b"".join(os.fsencode(self.prefix + path) + b"\0" for path in paths)
        globs = {"GIT_LITERAL_PATHSPECS": "0"}  # it has no such mode
        if not self.git.run("check-ignore", "--no-index", "-z", "--stdin", stdin=feed, ok=(0, 1), env=globs):
            return {}  # no rule, tracked or not: the index need not be read
        out = self.git.run("check-ignore", "--verbose", "-z", "--stdin", stdin=feed, ok=(0, 1), env=globs)
        words = os.fsdecode(out).split("\0")
        found = zip(words[0::4], words[1::4], words[2::4], words[3::4], strict=False)
        return {path.removeprefix(self.prefix): f"{source}:{line} {rule}" for source, line, rule, path in found if not rule.startswith("!")}

    def grep(self, pattern: str, path: str = "", glob: str = "", limit: int = 200) -> list[Hit]:
        """Lines of text files that match the regular expression (Perl's kind), at most `limit`. Raises GitError for a bad pattern."""
        hits = grep(self.git, self.work, pattern, self.prefix + path, glob, without=f"{self.prefix}{FOLDER}/")
        return [replace(hit, path=hit.path.removeprefix(self.prefix)) for hit in islice(hits, limit)]

    def _spec(self, under: str) -> list[str]:
        """`under` as a pathspec from the top; none at all for the whole tree."""
        return [self.prefix + under] if self.prefix + under else []


def discover(cwd: Path, *, at: Path | None = None) -> Repo:
    """The repository around `cwd`; its root is `at`, or the nearest folder upwards that holds `.agent/`, or the top.

    Raises AgentctlError with git's own advice where there is none, it is bare, or belongs to somebody else.
    """
    status, out, said = probe(cwd, "rev-parse", "--show-toplevel", "--absolute-git-dir", "--path-format=absolute", "--git-common-dir")
    if status != 0:
        raise _no_repository(cwd, said)
    top, git_dir, common = (Path(line) for line in out.split("\n")[:3])
    if not cwd.resolve().is_relative_to(top):
        raise AgentctlError(
            f"git takes {top} for this repository's work tree (core.worktree), and you are elsewhere", "git config --unset core.worktree"
        )
    return Repo(top, git_dir, common, at or _nearest(cwd.resolve(), top))


def _nearest(cwd: Path, top: Path) -> Path:
    for folder in (cwd, *cwd.parents):
        if (folder / FOLDER).is_dir():
            return folder
        if folder == top:
            return top
    return top


def _no_repository(cwd: Path, said: str) -> AgentctlError:
    if "dubious ownership" in said:
        advice = next((line.strip() for line in said.splitlines() if "safe.directory" in line), "git config --global --add safe.directory PATH")
        return AgentctlError("git doesn't trust this repository: it belongs to another user", f"if you do: {advice}")
    if "must be run in a work tree" in said or "cannot use bare repository" in said:
        return AgentctlError("this repository is bare: it has no files to work on", "git worktree add ../work BRANCH, and run agentctl there")
    if "not a git repository" in said:
        return AgentctlError(f"{cwd} is not inside a git repository", "git init, or go to the repository")
    return AgentctlError(f"git can't read this repository: {gist(said) or 'no answer'}", "see git status")
