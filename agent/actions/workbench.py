"""The work tree during one step: whose each change is, keeping it, landing it, putting it back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from agent.actions.claims import claims, fresh, may_claim_new
from agent.actions.commits import refuse_other_branch, taken_back
from agent.actions.outcome import safe
from agent.actions.putback import give_back, held
from agent.actions.sharing import HERE, Sharing
from agent.domain.change import GITLINK
from agent.domain.progress import Progress, Unfinished, render_unfinished, scrubbed
from agent.errors import AgentctlError
from agent.journal import Entry, Journal, Landing, with_original
from agent.repository import snapshot
from agent.repository.changes import changed_between, moved_links
from agent.repository.graft import graft
from agent.repository.landing import Made, commit_tree, take_back, uninterrupted
from agent.repository.objects import entry_for
from agent.repository.repo import Repo
from agent.repository.status import Status
from agent.repository.steering import Steering
from agent.repository.trees import Trees
from agent.repository.untouched import surely_as_seen
from agent.repository.writing import unstage
from agent.store import memory_path, write_memory

_PATIENCE = 5.0  # seconds; whoever holds the index is quicker


class Workbench:
    """One step's hold on the work tree. All paths here are relative to the repository's top.

    A change is the step's if a tool wrote it, or if it came about while a tool ran; whatever else changes meanwhile is a
    person's, and is neither committed nor put back. `ground` is the commit that the step builds on, `seen` the state of the tree before it.
    """

    def __init__(self, repo: Repo, journal: Journal, entry: Entry, sharing: Sharing = HERE, seen: Status | None = None) -> None:
        self.repo = repo
        self._journal = journal
        self.sharing = sharing
        self.entry = entry
        self.ground = entry.base
        self.landed: str | None = None
        self._kept_tree = ""
        self._snapshot = ""
        self._noise: set[str] = set()
        self._partly_seen = False
        self._trees = Trees(repo)
        self.steering = Steering(repo)
        journal.write(entry)
        now = seen or repo.look()
        self._seen = replace(now, head=entry.head, staged=entry.staged) if entry.doing else now
        self._links: dict[str, tuple[str, str]] | None = None if now.moved else {}

    # --- whose a change is -----------------------------------------------------------------------------------------

    def keep(self, path: str) -> None:
        """Called before a tool first writes `path` (relative to the root): what it holds is kept, and on disk when this returns.

        Raises AgentctlError for a file that somebody else has changed meanwhile.
        """
        whole = self.repo.prefix + path
        if whole not in self.entry.originals and whole not in self.entry.theirs:
            self._take_for_the_step(whole)
        if whole in self.entry.theirs:
            raise AgentctlError(f"somebody else is changing {path} meanwhile: it is theirs.", "Leave it, or ask.")

    def _take_for_the_step(self, path: str) -> None:
        """Note what `path` holds; or that it is somebody else's, who has changed it since the last look."""
        kept = held(self.repo, path)
        theirs = [] if surely_as_seen(self.repo, path, kept, self._seen) else self._theirs(self.repo.tracked(path))
        entry = replace(self.entry, theirs=(*self.entry.theirs, *theirs))
        self._note(entry if path in theirs else with_original(entry, path, kept))
        if path not in theirs and kept is not None and not self.repo.there([f"{self.ground}:{path}"])[0]:
            self._keep_untracked()

    def adopt(self, written: Sequence[str], made: Sequence[str]) -> None:
        """Called before files that tools wrote or commands made in an earlier session come into the tree: they are this step's."""
        originals = {path: held(self.repo, path) for path in written if path not in self.entry.originals}
        self._note(replace(self.entry, originals={**self.entry.originals, **originals}, made=(*self.entry.made, *made)))
        if self._written_over():
            self._keep_untracked()

    def _keep_untracked(self) -> None:
        """Point a ref at the person's files that git knew nothing of, so that no clean-up takes their bytes."""
        tree = graft(self.repo, None, {path: entry_for(*kept) for path, kept in self.entry.originals.items() if kept is not None})
        snapshot.keep(self.repo, self._kept_ref, tree, [self.ground], f"files that {self.entry.step} wrote over, as they were")

    @property
    def _kept_ref(self) -> str:
        return f"{snapshot.KEPT}{self.entry.step}"

    @property
    def wip(self) -> str:
        """The ref that keeps the work so far."""
        return f"{snapshot.WIP}{self.entry.step}"

    def _note(self, entry: Entry) -> None:
        self._journal.write(entry)
        self.entry = entry

    def before_tool(self, doing: str) -> None:
        """Called before a tool that may change anything, with a line that names it: what changed since the last look is not the step's."""
        self.steering.before()
        now = self.repo.look()
        seen = {*self._seen.untracked, *self.entry.originals, *self.entry.made}
        strangers = fresh((path for path in now.untracked if path not in seen), self.entry.untracked)
        theirs = self._theirs(now)
        entry = replace(self.entry, untracked=(*self.entry.untracked, *strangers), theirs=(*self.entry.theirs, *theirs))
        self._note(replace(entry, doing=doing, head=now.head, staged=now.staged))
        self._seen = now

    def _theirs(self, now: Status) -> list[str]:
        """Tracked files that changed, or were staged, since the last look, but for those that are the step's already."""
        seen = {*self._seen.modified, *self._seen.staged, *self.entry.originals, *self.entry.made, *self.entry.theirs}
        return [path for path in dict.fromkeys((*now.modified, *now.staged)) if path not in seen]

    def after_tool(self, progress: Progress) -> bool:
        """Called after a tool that may have changed the tree: what one did that `before_tool` announced is noticed (others told `keep`), the work is kept. Whether it did."""
        if self.entry.doing:
            self._notice()
        self._note(replace(self.entry, progress=scrubbed(progress, safe)))
        tree = self.tree(self._all_new())
        changed = tree != self._kept_tree
        if changed:
            self._keep_work(tree)
        self._note(replace(self.entry, doing=""))  # last: until the work is kept, whoever recovers takes changed files for the tool's
        return changed

    def _keep_work(self, tree: str) -> None:
        self._kept_tree = tree
        before = [self._snapshot] if self._snapshot else []  # so that whoever fetches the ref goes forward, and never has to be forced
        self._snapshot = snapshot.keep(self.repo, self.wip, tree, [self.ground, *before], render_unfinished(self.unfinished()))
        self.sharing.send(self.wip)

    def noted(self, progress: Progress) -> None:
        """Called when the session has noted something without changing the tree."""
        self._note(replace(self.entry, progress=scrubbed(progress, safe)))

    def unfinished(self) -> Unfinished:
        """The step as it would have to be gone on from."""
        return Unfinished(self.entry.step, self.entry.item, self.entry.progress, self.entry.made, self._written_over(), self.entry.carried)

    def _written_over(self) -> dict[str, str]:
        """The person's untracked files that a tool wrote over, each with the blob that it held."""
        there = {path: kept[0] for path, kept in self.entry.originals.items() if kept is not None}
        tracked = self.repo.there([f"{self.ground}:{path}" for path in there])
        return {path: blob for (path, blob), known in zip(there.items(), tracked, strict=True) if not known}

    def _notice(self) -> None:
        """Take up what came about since the last look as the step's: new files; commits and staging are taken back first."""
        self.steering.after()
        now = self.repo.look()
        refuse_other_branch(self.entry.branch, now.branch)
        ref = f"{snapshot.ATTEMPTS}{self.entry.step}-head"
        if now.head != self._seen.head and now.head and self._seen.head and taken_back(self.repo, now.head, self._seen.head, ref):
            now = self.repo.look()
        staged = [path for path in (*now.staged, *now.unmerged) if path not in self._seen.staged]
        if staged:
            unstage(self.repo, staged)
            now = self.repo.look()
        made = self._appeared(now)
        self._seen = now
        if made:
            self._note(replace(self.entry, made=(*self.entry.made, *made)))

    def _appeared(self, now: Status) -> list[str]:
        """Untracked files that are new: neither the person's, nor written by a tool, nor noticed before."""
        told = {*self.entry.originals, *self.entry.made}
        return [path for path in fresh(now.untracked, self.entry.untracked) if path not in told]

    def after_checks(self) -> list[str]:
        """Called after checks: what they left behind is not the step's, and new files land only where the note names them.

        Gives the tracked files that changed meanwhile, by a check's doing or a person's.
        """
        self._partly_seen = False
        return self._look_after_checks(self.repo.look())

    def after_green_checks(self, note: str) -> None:
        """As `after_checks`; but where no program is to see the commit, new files are looked for only if `note` may claim one: no other can land.

        Call `goes_on` where the step doesn't land after all.
        """
        known = {*self._all_new(), *self.entry.untracked}
        self._partly_seen = not self.repo.programs.see_commits() and not may_claim_new(self.repo, self.ground, note, known)
        self._look_after_checks(self.repo.tracked() if self._partly_seen else self.repo.look())

    def goes_on(self) -> None:
        """Called where the worker goes on after green checks: what they left is told from what its commands will make."""
        if self._partly_seen:
            self.after_checks()

    def _look_after_checks(self, now: Status) -> list[str]:
        left = self._appeared(now)
        self._noise.update(left)
        changed = self._theirs(now)
        self._note(replace(self.entry, untracked=(*self.entry.untracked, *left), theirs=(*self.entry.theirs, *changed)))
        self._seen = now
        return changed

    def after_setup(self) -> tuple[list[str], list[str]]:
        """Called after setup: what git shows of it, which must be nothing and is put back, and the ignored paths that it made, which are the person's."""
        now = self.repo.look()
        left = [*self._theirs(now), *self._appeared(now)]
        if left:
            return left, []
        made = fresh(self.repo.survey().ignored, self.entry.untracked)
        self._note(replace(self.entry, untracked=(*self.entry.untracked, *made), doing=""))
        self._seen = now
        return [], made

    # --- what would land -------------------------------------------------------------------------------------------

    def _all_new(self) -> list[str]:
        return [*self.entry.originals, *self.entry.made]

    def unclaimed(self, note: str) -> list[str]:
        """Files that commands made and that still are there, but that `note` doesn't name."""
        return [path for path in self.entry.made if self.repo.work.look(path) and not claims(self.repo, self.ground, note, path)]

    def result(self, note: str) -> str:
        """The tree that would land: tracked files as they are, files that tools wrote, and those made by commands that `note` names."""
        return self.tree(self._wanted(note))

    def _wanted(self, note: str) -> list[str]:
        return [*self.entry.originals, *(path for path in (*self.entry.made, *sorted(self._noise)) if claims(self.repo, self.ground, note, path))]

    def beside(self) -> list[str]:
        """Tracked files that differ in the work tree, where the checks ran, by somebody else's doing."""
        if not self.entry.theirs:
            return []
        now = self.repo.tracked()
        return [path for path in self.entry.theirs if path in now.modified or path in now.staged]

    def left_out(self, note: str, tree: str) -> list[str]:
        """Files that are to land but that git leaves out of `tree`, since it ignores them by now."""
        there = [path for path in self._wanted(note) if self.repo.work.look(path)]
        return [path for path, lands in zip(there, self.repo.there([f"{tree}:{path}" for path in there]), strict=True) if not lands]

    def tree(self, new: Iterable[str]) -> str:
        """The tree of the work tree with the untracked paths `new`, without what isn't the step's: what has changed since the last look.

        Submodules that stood elsewhere before the step are as in the commit it builds on.
        """
        tree = self._trees.tree(self.ground, self._seen.changed, new, self.entry.theirs)
        moved = moved_links(self.repo, self.ground, tree) if self._links is None or self._links else {}
        if self._links is None:
            self._links = moved
        same = {path: (GITLINK, before) for path, (before, now) in moved.items() if self._links.get(path) == (before, now)}
        return graft(self.repo, tree, same) if same else tree

    def intend(self, tree: str | None, files: Sequence[tuple[str, str]], message: str) -> Landing:
        """Note the commit that is about to be made on `ground`, so that it is made after a crash too."""
        landing = Landing(self.ground, tree, tuple(files), message)
        self._note(replace(self.entry, landing=landing))
        return landing

    def land(self, landing: Landing) -> Made:
        """Make the intended commit: exactly its tree with agentctl's own files, on top of its ground, where HEAD has to be."""
        refuse_other_branch(self.entry.branch, self.repo.branch())
        own = tuple(memory_path(self.repo, path) for path, _ in landing.files)
        with uninterrupted():
            write_memory(self.repo, landing.files)
            made = commit_tree(self.repo, landing.ground, landing.tree, own, landing.message)
            if made.commit is None:
                self._take_away_landing()
            elif not made.strange:
                self.landed = made.commit
        return made

    def refuse(self, made: Made) -> None:
        """Take a commit back that a hook had changed: it stays under a ref, the work tree as it is."""
        if made.commit is not None:
            snapshot.point(self.repo, snapshot.attempt_ref(self.repo, self.entry.step), made.commit)
            take_back(self.repo, made.commit, self.ground)
            self._take_away_landing()

    def _take_away_landing(self) -> None:
        """Agentctl's own files go again, and the intention with them."""
        for path, _ in self.entry.landing.files if self.entry.landing else ():
            self.repo.work.remove(memory_path(self.repo, path))
        self._note(replace(self.entry, landing=None))

    # --- endings ---------------------------------------------------------------------------------------------------

    def put_back(self, kept: str = "") -> str | None:
        """Make the tree what it was before the step; gives the ref that keeps what the step had made. The journal stays until `close`.

        There is no such ref where nothing had changed, nor for the tree `kept`, which another ref keeps. What can't be put
        back stays where it is, and AgentctlError names it.
        """
        self.repo.index_lock(_PATIENCE)
        with contextlib.suppress(AgentctlError):  # where it can't be told what a tool had made that was broken off, that is left alone
            if self.entry.doing:
                self._notice()
        self.ground = self.repo.head() or self.ground  # a person may have committed meanwhile: that stays
        tree = self.tree(self._all_new())
        changed = changed_between(self.repo, self.ground, tree)
        ref = snapshot.attempt_ref(self.repo, self.entry.step) if changed and tree != kept else None
        if ref:
            snapshot.keep(self.repo, ref, tree, [self.ground], f"attempt that did not land: {self.entry.step}")
        trouble = give_back(self.repo, self.entry, self.ground, changed)
        if trouble:
            self.close()
            where = f"; its bytes are in {ref}" if ref else ""
            raise AgentctlError(f"not all of the step could be put back: {', '.join(trouble)}{where}", "look at git status")
        snapshot.drop(self.repo, self._kept_ref)
        return ref

    def close(self) -> None:
        """The step is over: its work-in-progress ref and the journal go."""
        self._trees.close()
        snapshot.drop(self.repo, self.wip)
        self._journal.clear()
