"""The work tree during one step: whose each change is, keeping it, landing it, putting it back."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from agent.actions.commits import taken_back
from agent.domain.change import GITLINK
from agent.durable import write_whole
from agent.errors import AgentctlError
from agent.journal import Entry, Journal, with_original
from agent.repository import snapshot
from agent.repository.changes import moved_links
from agent.repository.landing import Made, commit_tree, take_back, uninterrupted
from agent.repository.repo import FOLDER, Repo, changed_between
from agent.repository.status import Status

_PATIENCE = 5.0  # seconds; whoever holds the index is quicker


class Workbench:
    """One step's hold on the work tree. All paths here are relative to the repository's top.

    A change is the step's if a tool wrote it, or if it came about while a tool ran; whatever else changes meanwhile is a
    person's, and is neither committed nor put back. `ground` is the commit that the step builds on.
    """

    def __init__(self, repo: Repo, journal: Journal, entry: Entry) -> None:
        self.repo = repo
        self._journal = journal
        self.entry = entry
        self.ground = entry.base
        self.landed: str | None = None
        self._kept_tree = ""
        self._noise: set[str] = set()
        self._links: dict[str, tuple[str, str]] | None = None
        journal.write(entry)
        now = repo.look()
        self._seen = replace(now, head=entry.head, staged=entry.staged) if entry.running else now

    # --- whose a change is -----------------------------------------------------------------------------------------

    def keep(self, path: str) -> None:
        """Called before a tool first writes `path` (relative to the root): what it holds is kept, and on disk when this returns.

        Raises AgentctlError for a file that somebody else has changed meanwhile.
        """
        whole = self.repo.prefix + path
        if whole in self.entry.theirs:
            raise AgentctlError(f"somebody else is changing {path} meanwhile: it is theirs.", "Leave it, or ask.")
        if whole in self.entry.originals:
            return
        self._note(with_original(self.entry, whole, self._held(whole)))
        if self.entry.originals[whole] is not None and self.repo.blobs([f"{self.ground}:{whole}"])[0] is None:
            self._keep_untracked()

    def _held(self, path: str) -> tuple[str, int] | None:
        file = self.repo.top / path
        try:
            mode = file.lstat().st_mode
        except OSError:
            return None
        data = os.fsencode(file.readlink()) if stat.S_ISLNK(mode) else file.read_bytes()
        return snapshot.keep_bytes(self.repo, data), mode

    def _keep_untracked(self) -> None:
        """Point a ref at the person's files that git knew nothing of, so that no clean-up takes their bytes."""
        held = {path: kept for path, kept in self.entry.originals.items() if kept is not None}
        entries = {path: ("120000" if stat.S_ISLNK(mode) else "100755" if mode & 0o100 else "100644", blob) for path, (blob, mode) in held.items()}
        tree = snapshot.with_entries(self.repo, None, entries)
        snapshot.keep(self.repo, self._kept_ref, tree, self.ground, f"files that {self.entry.step} wrote over, as they were")

    @property
    def _kept_ref(self) -> str:
        return f"{snapshot.KEPT}{self.entry.step}"

    def _note(self, entry: Entry) -> None:
        self._journal.write(entry)
        self.entry = entry

    def before_tool(self) -> None:
        """Called before a tool that may change the tree: what changed since the last look is not the step's."""
        now = self.repo.look()
        seen = {*self._seen.untracked, *self.entry.originals, *self.entry.made}
        strangers = self._fresh(path for path in now.untracked if path not in seen)
        theirs = self._theirs(now)
        entry = replace(self.entry, untracked=(*self.entry.untracked, *strangers), theirs=(*self.entry.theirs, *theirs))
        self._note(replace(entry, running=True, head=now.head, staged=now.staged))
        self._seen = now

    def _theirs(self, now: Status) -> list[str]:
        """Tracked files that changed, or were staged, since the last look, but for those that are the step's already."""
        seen = {*self._seen.modified, *self._seen.staged, *self.entry.originals, *self.entry.made, *self.entry.theirs}
        return [path for path in dict.fromkeys((*now.modified, *now.staged)) if path not in seen]

    def after_tool(self) -> None:
        """Called after a tool that may have changed the tree: what it did is noticed, and the work so far is kept under its ref."""
        self._notice()
        self._note(replace(self.entry, running=False))
        tree = self.tree(self._all_new())
        if tree == self._kept_tree:
            return
        self._kept_tree = tree
        snapshot.keep(self.repo, f"{snapshot.WIP}{self.entry.step}", tree, self.ground, f"work in progress: {self.entry.step}")

    def _notice(self) -> None:
        """Take up what came about since the last look as the step's: new files; commits and staging are taken back first."""
        now = self.repo.look()
        self._refuse_other_branch(now)
        ref = f"{snapshot.ATTEMPTS}{self.entry.step}-head"
        if now.head != self._seen.head and now.head and self._seen.head and taken_back(self.repo, now.head, self._seen.head, ref):
            now = self.repo.look()
        staged = [path for path in (*now.staged, *now.unmerged) if path not in self._seen.staged]
        if staged:
            self.repo.unstage(snapshot.listing(staged))
            now = self.repo.look()
        made = self._appeared(now)
        self._seen = now
        if made:
            self._note(replace(self.entry, made=(*self.entry.made, *made)))

    def _refuse_other_branch(self, now: Status) -> None:
        if now.branch != self.entry.branch:
            raise AgentctlError(f"another branch was checked out during the step ({now.branch or 'none'})", f"git switch {self.entry.branch}")

    def _fresh(self, paths: Iterable[str]) -> list[str]:
        """Those of the untracked `paths` that aren't the person's, by themselves or by a folder above them."""
        untracked = set(self.entry.untracked)
        return [path for path in paths if path not in untracked and not any(f"{folder}/" in untracked for folder in _parents(path))]

    def _appeared(self, now: Status) -> list[str]:
        """Untracked files that are new: neither the person's, nor written by a tool, nor noticed before."""
        told = {*self.entry.originals, *self.entry.made}
        return [path for path in self._fresh(now.untracked) if path not in told]

    def after_checks(self) -> list[str]:
        """Called after checks: what they left behind is not the step's, and new files land only where the note names them.

        Gives the tracked files that changed meanwhile, by a check's doing or a person's.
        """
        now = self.repo.look()
        left = self._appeared(now)
        self._noise.update(left)
        changed = self._theirs(now)
        self._note(replace(self.entry, untracked=(*self.entry.untracked, *left), theirs=(*self.entry.theirs, *changed)))
        self._seen = now
        return changed

    # --- what would land -------------------------------------------------------------------------------------------

    def _all_new(self) -> list[str]:
        return [*self.entry.originals, *self.entry.made]

    def unclaimed(self, note: str) -> list[str]:
        """Files that commands made and that still are there, but that `note` doesn't name."""
        return [path for path in self.entry.made if os.path.lexists(self.repo.top / path) and not self._claimed(path, note)]

    def _claimed(self, path: str, note: str) -> bool:
        """Whether `note` names the path, or a folder above it that is new as a whole, with its `/`."""
        if _names(note, path.removeprefix(self.repo.prefix)):
            return True
        folders = [folder for folder in _parents(path) if _names(note, f"{folder}/".removeprefix(self.repo.prefix))]
        return any(not self.repo.tree_has(self.ground, folder) for folder in folders)

    def result(self, note: str) -> str:
        """The tree that would land: tracked files as they are, files that tools wrote, and those made by commands that `note` names."""
        return self.tree(self._wanted(note))

    def _wanted(self, note: str) -> list[str]:
        claimed = [path for path in (*self.entry.made, *sorted(self._noise)) if self._claimed(path, note)]
        return [*self.entry.originals, *claimed]

    def beside(self) -> list[str]:
        """Tracked files that differ in the work tree, where the checks ran, by somebody else's doing."""
        now = self.repo.look()
        return [path for path in self.entry.theirs if path in now.modified or path in now.staged]

    def left_out(self, note: str, tree: str) -> list[str]:
        """Files that are to land but that git leaves out of `tree`, since it ignores them by now."""
        there = [path for path in self._wanted(note) if os.path.lexists(self.repo.top / path)]
        return [path for path, blob in zip(there, self.repo.blobs([f"{tree}:{path}" for path in there]), strict=True) if blob is None]

    def tree(self, new: Iterable[str]) -> str:
        """The tree of the work tree with the untracked paths `new`, without what isn't the step's.

        Submodules that stood elsewhere before the step are as in the commit it builds on.
        """
        tree = snapshot.tree_of_work(self.repo, self.ground, new, self.entry.theirs)
        moved = moved_links(self.repo, self.ground, tree) if self._links is None or self._links else {}
        if self._links is None:
            self._links = moved
        same = {path: (GITLINK, before) for path, (before, now) in moved.items() if self._links.get(path) == (before, now)}
        return snapshot.with_entries(self.repo, tree, same) if same else tree

    def land(self, tree: str, files: Sequence[tuple[str, str]], message: str) -> Made:
        """Commit exactly `tree` with agentctl's own `files` (path inside `.agent/`, text), on top of `ground`, where HEAD is."""
        self._refuse_other_branch(self.repo.look())
        own = tuple(memory_path(self.repo, path) for path, _ in files)
        self._note(replace(self.entry, landing=own))
        with uninterrupted():
            write_memory(self.repo, files)
            made = commit_tree(self.repo, self.ground, tree, own, message)
            if made.commit is None:
                self._take_away_landing()
            elif not made.strange:
                self.landed = made.commit
        return made

    def refuse(self, made: Made) -> None:
        """Take a commit back that a hook had changed: it stays under a ref, the work tree as it is."""
        if made.commit is not None:
            snapshot.point(self.repo, self._attempt_ref(), made.commit)
            take_back(self.repo, made.commit, self.ground)
            self._take_away_landing()

    def _attempt_ref(self) -> str:
        """A ref for this step's attempt that keeps nothing yet."""
        base = f"{snapshot.ATTEMPTS}{self.entry.step}"
        numbered = (f"{base}-{number}" for number in itertools.count(2))
        return next(ref for ref in itertools.chain([base], numbered) if self.repo.resolve(ref) is None)

    def _take_away_landing(self) -> None:
        for path in self.entry.landing:
            (self.repo.top / path).unlink(missing_ok=True)

    # --- endings ---------------------------------------------------------------------------------------------------

    def put_back(self) -> str | None:
        """Make the tree what it was before the step; the attempt stays under its ref. Gives that ref, None where nothing had changed.

        Once the step has landed this only closes it. What can't be put back stays where it is, and AgentctlError names it.
        """
        if self.landed is not None:
            self.close()
            return None
        self.repo.index_lock(_PATIENCE)
        if self.entry.running:
            self._notice_leniently()
        self.ground = self.repo.head() or self.ground  # a person may have committed meanwhile: that stays
        tree = self.tree(self._all_new())
        changed = changed_between(self.repo, self.ground, tree)
        ref = self._attempt_ref() if changed else None
        if ref:
            snapshot.keep(self.repo, ref, tree, self.ground, f"attempt that did not land: {self.entry.step}")
        trouble = [*self._take_away_new(), *self._restore(changed), *self._restore_originals()]
        self.close()
        if trouble:
            where = f"; its bytes are in {ref}" if ref else ""
            raise AgentctlError(f"not all of the step could be put back: {', '.join(trouble)}{where}", "look at git status")
        snapshot.drop(self.repo, self._kept_ref)
        return ref

    def _notice_leniently(self) -> None:
        """A tool was broken off: what it had made by then is the step's. Where that can't be told, it is left alone."""
        try:
            self._notice()
        except AgentctlError:
            return

    def _restore(self, changed: Iterable[str]) -> list[str]:
        """Tracked files that the step changed are what they were; gives those that can't be."""
        at_ground = self._at_ground(list(changed))
        tracked = [path for path, there in at_ground.items() if there]
        try:
            self.repo.put_back(tracked, self.ground)
        except AgentctlError as error:
            return [f"{len(tracked)} tracked files ({error.message})"]
        return []

    def _at_ground(self, paths: list[str]) -> dict[str, bool]:
        return {path: blob is not None for path, blob in zip(paths, self.repo.blobs([f"{self.ground}:{path}" for path in paths]), strict=True)}

    def _take_away_new(self) -> list[str]:
        """Files that the step made go away, but for those that a commit holds by now; gives those that can't."""
        new = [*self.entry.made, *self.entry.landing, *(path for path, kept in self.entry.originals.items() if kept is None)]
        return [path for path, there in self._at_ground(new).items() if not there and not self._take_away(path)]

    def _restore_originals(self) -> list[str]:
        """Files that a tool wrote over have their bytes and mode back; gives those that can't."""
        committed = set(changed_between(self.repo, self.entry.base, self.ground))  # by a person, meanwhile: what they hold now is theirs
        held = [(path, kept) for path, kept in self.entry.originals.items() if kept is not None and path not in committed]
        contents = self.repo.blobs([blob for _, (blob, _) in held])
        stuck = [path for (path, (_, mode)), data in zip(held, contents, strict=True) if not self._restore_bytes(path, data, mode)]
        tracked = [path for path, there in self._at_ground([path for path, _ in held]).items() if there and path not in stuck]
        with contextlib.suppress(AgentctlError):  # git then only takes longer to see that nothing has changed
            self.repo.look_again(tracked)
        return stuck

    def _restore_bytes(self, path: str, data: bytes | None, mode: int) -> bool:
        target = self.repo.top / path
        if data is None or stat.S_ISLNK(mode):
            return data is not None
        if snapshot.through_link(self.repo, path):
            return False
        try:
            if not target.is_file() or target.is_symlink() or target.read_bytes() != data:
                write_whole(target, data)
            target.chmod(stat.S_IMODE(mode))
        except OSError:
            return False
        return True

    def _take_away(self, path: str) -> bool:
        """Remove a file, and the folders above it that are empty then; False where it can't be."""
        file = self.repo.top / path
        if snapshot.through_link(self.repo, path) or (file.is_dir() and not file.is_symlink()):
            return True
        try:
            file.unlink(missing_ok=True)
        except OSError:
            return False
        for folder in _parents(path):
            try:
                (self.repo.top / folder).rmdir()
            except OSError:
                break
        return True

    def close(self) -> None:
        """The step is over: its work-in-progress ref and the journal go."""
        snapshot.drop(self.repo, f"{snapshot.WIP}{self.entry.step}")
        self._journal.clear()


def _names(note: str, path: str) -> bool:
    """Whether `path` stands in `note` as a word of its own."""
    return re.search(rf"(?<![\w./-]){re.escape(path)}(?![\w/-]|\.\w)", note) is not None


def _parents(path: str) -> list[str]:
    """The folders above `path`, innermost first, without the top."""
    return [str(folder) for folder in PurePosixPath(path.rstrip("/")).parents if str(folder) != "."]


def memory_path(repo: Repo, path: str) -> str:
    """A path inside `.agent/` as one relative to the top."""
    return f"{repo.prefix}{FOLDER}/{path}"


def write_memory(repo: Repo, files: Sequence[tuple[str, str]]) -> None:
    """Write `files` (path inside `.agent/`, text) into the work tree."""
    for path, text in files:
        target = repo.root / FOLDER / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8"))
