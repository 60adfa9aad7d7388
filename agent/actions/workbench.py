"""The work tree during one step: what was there before, what the step changed, keeping it, landing it, putting it back."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from agent.domain.change import GITLINK
from agent.durable import write_whole
from agent.journal import Entry, Journal, with_original
from agent.repository import snapshot
from agent.repository.changes import moved_links
from agent.repository.repo import FOLDER, Repo, changed_between
from agent.repository.status import Status


class Workbench:
    """One step's hold on the work tree. All paths here are relative to the repository's top."""

    def __init__(self, repo: Repo, journal: Journal, entry: Entry) -> None:
        self.repo = repo
        self._journal = journal
        self.entry = entry
        self._kept_tree = ""
        self._noise: set[str] = set()
        self._links: dict[str, tuple[str, str]] | None = None
        journal.write(entry)

    def keep(self, path: str) -> None:
        """Called before a tool first writes `path` (relative to the root): what it holds is kept, and on disk when this returns."""
        whole = self.repo.prefix + path
        if whole in self.entry.originals:
            return
        self._note(with_original(self.entry, whole, self._held(whole)))

    def _held(self, path: str) -> tuple[str, int] | None:
        file = self.repo.top / path
        try:
            mode = file.lstat().st_mode
        except OSError:
            return None
        data = os.fsencode(file.readlink()) if stat.S_ISLNK(mode) else file.read_bytes()
        return snapshot.keep_bytes(self.repo, data), mode

    def _note(self, entry: Entry) -> None:
        self._journal.write(entry)
        self.entry = entry

    def after_tool(self) -> None:
        """Called after a tool that may have changed the tree: new files are noticed, and the work so far is kept under its ref."""
        made = tuple(path for path in self._appeared() if path not in self.entry.made)
        if made:
            self._note(replace(self.entry, made=(*self.entry.made, *made)))
        tree = self.tree(self._all_new())
        if tree == self._kept_tree:
            return
        self._kept_tree = tree
        snapshot.keep(self.repo, f"{snapshot.WIP}{self.entry.step}", tree, self.entry.base, f"work in progress: {self.entry.step}")

    def after_checks(self) -> None:
        """Called after checks: what they left behind stays as if it had been there before, and lands only where the note names it."""
        left = tuple(path for path in self._appeared() if path not in self.entry.made)
        if left:
            self._noise.update(left)
            self._note(replace(self.entry, untracked=(*self.entry.untracked, *left)))

    def _appeared(self) -> list[str]:
        """Files that weren't there before the step, aren't ignored, and no tool wrote: a command made them."""
        known = set(self.entry.untracked)
        fresh = [path for path in self._unstaged().untracked if path not in known]
        files = [path for path in fresh if not path.endswith("/")]
        folders = [path for path in fresh if path.endswith("/")]
        if folders:
            out = self.repo.git.run("ls-files", "-z", "--others", "--exclude-standard", "--", *folders)
            files += [path for path in os.fsdecode(out).split("\0") if path]
        return [path for path in files if path not in known and path not in self.entry.originals]

    def _unstaged(self) -> Status:
        """The state of the work tree, after taking out of the index what commands staged: before the step nothing was."""
        status = self.repo.status()
        staged = [*status.staged, *status.unmerged]
        if not staged:
            return status
        self.repo.unstage(b"".join(os.fsencode(path) + b"\0" for path in staged))
        return self.repo.status()

    def _all_new(self) -> list[str]:
        return [*self.entry.originals, *self.entry.made]

    def unclaimed(self, note: str) -> list[str]:
        """Files that commands made and that still are there, but whose path (or a folder above it) `note` doesn't name."""
        return [path for path in self.entry.made if os.path.lexists(self.repo.top / path) and not self._claimed(path, note)]

    def _claimed(self, path: str, note: str) -> bool:
        own = path.removeprefix(self.repo.prefix)
        folders = [f"{folder}/" for folder in _parents(own)]
        return own in note or any(folder in note for folder in folders)

    def result(self, note: str) -> str:
        """The tree that would land: tracked files as they are, files that tools wrote, and those made by commands that `note` names."""
        claimed = [path for path in (*self.entry.made, *sorted(self._noise)) if self._claimed(path, note)]
        return self.tree([*self.entry.originals, *claimed])

    def tree(self, new: Iterable[str]) -> str:
        """The tree of the work tree with the untracked paths `new`; submodules that stood elsewhere before the step are as in its base."""
        tree = snapshot.tree_of_work(self.repo, new)
        moved = moved_links(self.repo, self.entry.base, tree) if self._links is None or self._links else {}
        if self._links is None:
            self._links = moved
        same = {path: (GITLINK, before) for path, (before, now) in moved.items() if self._links.get(path) == (before, now)}
        return snapshot.with_entries(self.repo, tree, same) if same else tree

    def make_be(self, tree: str, instead_of: str) -> None:
        """Let tracked files be what they are in `tree` where checks changed them into `instead_of`."""
        changed = changed_between(self.repo, instead_of, tree)
        there = {path for path, letter in changed.items() if letter != "D"}
        if there:
            listing = b"".join(os.fsencode(path) + b"\0" for path in sorted(there))
            self.repo.git.run("restore", f"--source={tree}", "--worktree", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=listing)

    def land(self, base: str, tree: str, files: Sequence[tuple[str, str]], message: str) -> tuple[str | None, str]:
        """Commit on top of `base` (where HEAD is) what `tree` changed, together with agentctl's own `files` (path inside `.agent/`, text). As `Repo.commit`.

        Where no commit comes of it, `files` are taken away again.
        """
        changed = list(changed_between(self.repo, base, tree))
        own = [memory_path(self.repo, path) for path, _ in files]
        self._note(replace(self.entry, landing=tuple(own)))
        write_memory(self.repo, files)
        commit, said = self.repo.commit([*changed, *own], message)
        if commit is None:
            for path in own:
                (self.repo.top / path).unlink(missing_ok=True)
        return commit, said

    def put_back(self) -> str | None:
        """Make the tree what it was before the step; the attempt stays under its ref. Gives that ref, None where nothing had changed."""
        self._unstaged()
        tree = self.tree(self._all_new())
        ref = None
        base = self.repo.head() or self.entry.base  # a person may have committed meanwhile: that stays
        changed = changed_between(self.repo, base, tree)
        if changed:
            ref = f"{snapshot.ATTEMPTS}{self.entry.step}"
            snapshot.keep(self.repo, ref, tree, base, f"attempt that did not land: {self.entry.step}")
        self.repo.put_back([path for path, letter in changed.items() if letter != "A"], base)
        paths = list(self.entry.originals)
        at_base = self.repo.blobs([f"{base}:{path}" for path in paths])
        for path, tracked in zip(paths, at_base, strict=True):
            if tracked is None:
                self._put_back_untracked(path, self.entry.originals[path])
        for path in self.entry.made:
            self._take_away(path)
        self.close()
        return ref

    def _put_back_untracked(self, path: str, original: tuple[str, int] | None) -> None:
        """What a tool wrote over a person's file goes back as it was; what it made anew goes away."""
        if original is None:
            self._take_away(path)
            return
        blob, mode = original
        data = self.repo.blobs([blob])[0]
        if data is not None and not stat.S_ISLNK(mode):
            write_whole(self.repo.top / path, data)
            (self.repo.top / path).chmod(stat.S_IMODE(mode))

    def _take_away(self, path: str) -> None:
        file = self.repo.top / path
        if file.is_dir() and not file.is_symlink():
            return
        file.unlink(missing_ok=True)
        for folder in _parents(path):
            try:
                (self.repo.top / folder).rmdir()
            except OSError:
                return

    def close(self) -> None:
        """The step is over: its work-in-progress ref and the journal go."""
        snapshot.drop(self.repo, f"{snapshot.WIP}{self.entry.step}")
        self._journal.clear()


def _parents(path: str) -> list[str]:
    """The folders above `path`, innermost first, without the top."""
    return [str(folder) for folder in Path(path).parents if str(folder) != "."]


def memory_path(repo: Repo, path: str) -> str:
    """A path inside `.agent/` as one relative to the top."""
    return f"{repo.prefix}{FOLDER}/{path}"


def write_memory(repo: Repo, files: Sequence[tuple[str, str]]) -> None:
    """Write `files` (path inside `.agent/`, text) into the work tree."""
    for path, text in files:
        target = repo.root / FOLDER / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8"))
