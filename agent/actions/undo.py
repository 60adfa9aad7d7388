"""Taking steps back: what `git revert` does, with the reason in the message, and nothing half-done."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePosixPath

from msgspec import Struct

from agent.actions.outcome import safe
from agent.actions.preflight import recover, refuse_uncommittable
from agent.actions.undo_choice import Known, commits_of, named
from agent.actions.undo_tree import land_undo
from agent.domain.change import GITLINK, Change
from agent.domain.memory import Record
from agent.domain.names import NoteName
from agent.domain.text import first_of, one_line
from agent.domain.todo import Standing, State, standings
from agent.domain.undoing import undo_message
from agent.errors import AgentctlError
from agent.lock import locked
from agent.repository.changes import changes_between
from agent.repository.history import read_history
from agent.repository.landing import uninterrupted
from agent.repository.repo import FOLDER, Repo
from agent.repository.revert import without

_SHORT = 10  # characters of a commit's id


class Undone(Struct, frozen=True):
    """What an undo did. `commit` is None where nothing was left to undo.

    `steps` were taken back; `already` were undone before; `open_again` are the items that are open because of it, `gone` the
    items that the steps had proposed and that went with them; `recovered` tells what an earlier crash had left.
    """

    commit: str | None
    steps: tuple[NoteName, ...] = ()
    already: tuple[Record, ...] = ()
    open_again: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    recovered: str = ""

    @property
    def text(self) -> str:
        """The same in a few lines, as a person reads it."""
        lines = [self.recovered] if self.recovered else []
        lines += [_told(record) for record in self.already]
        if self.commit is None:
            lines.append("nothing to undo")
        else:
            lines.append(f"undone in {self.commit[:_SHORT]}: {', '.join(str(name.step) for name in self.steps)}")
        lines += [f"open again: {', '.join(self.open_again)}"] if self.open_again else []
        lines += [f"gone with it, since the step had proposed it: {', '.join(self.gone)}"] if self.gone else []
        return "\n".join(lines)


def _told(record: Record) -> str:
    by = record.undone_by
    return f"{record.name.step} was undone already" + (f", by {one_line(by.author, 40)} in {by.id[:_SHORT]}" if by else "")


def undo(repo: Repo, steps: Sequence[str], because: str) -> Undone:
    """Take back `steps` (step ids, item ids, commits, ranges FIRST..LAST) in one commit that says why.

    The merge is made outside the work tree, so a conflict changes nothing. Raises AgentctlError where it conflicts, where files of the
    person are in the way, or where a word names no step; nothing has changed then. Steps that are undone already are left out.
    """
    with locked(repo.private) as before:
        repo.programs.refuse()
        told = recover(repo, before)
        try:
            return _undo(repo, steps, because, told)
        except AgentctlError as error:
            error.message = f"{told}; {error.message}" if told else error.message  # that happened, whatever comes of the undo
            raise


def _undo(repo: Repo, steps: Sequence[str], because: str, told: str) -> Undone:
    head = _ready(repo)
    known = _known(repo, head)
    found = named(known, steps)
    wanted = tuple(record for record in found if not record.undone)
    already = tuple(record for record in found if record.undone)
    if not wanted:
        return Undone(None, already=already, recovered=told)
    commits = commits_of(known, wanted)
    tree = _tree_without(known, commits, wanted, head)
    changes = changes_between(repo, head, tree)
    _refuse_in_the_way(repo, changes)
    message = undo_message([(one, _subject(repo, one)) for one in commits], safe(because))
    with uninterrupted():
        commit = land_undo(repo, head, tree, message)
    gone = _items_in(repo, [change.path for change in changes if change.kind == "deleted"])
    return Undone(commit, tuple(record.name for record in wanted), already, _open_again(known, wanted, gone), gone, told)


def _ready(repo: Repo) -> str:
    """HEAD's commit, where an undo may begin."""
    status = refuse_uncommittable(repo)
    if status.unmerged:
        raise AgentctlError(f"files are in conflict: {_listed(status.unmerged)}", "resolve them and commit, then try again")
    if status.staged:
        raise AgentctlError(f"work is staged: {_listed(status.staged)}", "git commit, or git restore --staged -- FILES")
    return status.head or ""


def _known(repo: Repo, head: str) -> Known:
    """From names alone, so that a step which broke a file of `.agent/` can be undone too."""
    paths = [entry.path.removeprefix(f"{FOLDER}/") for entry in repo.tree(head)]
    notes = sorted(name for path in paths if (name := NoteName.parse(path)))
    items = {path.removeprefix("todo/").removesuffix(".md") for path in paths if path.startswith("todo/")}
    return Known(repo, read_history(repo, head, notes).records, items)


def _tree_without(known: Known, commits: Sequence[str], wanted: Sequence[Record], head: str) -> str:
    tree = f"{head}^{{tree}}"
    for commit in commits:
        result = without(known.repo, commit, tree)
        if not result.clean:
            raise _conflict(known, commit, wanted, result.conflicts)
        tree = result.tree
    return tree


def _conflict(known: Known, commit: str, wanted: Sequence[Record], paths: Sequence[str]) -> AgentctlError:
    """What conflicts, and the two ways out: the later steps at the same files, or by hand."""
    repo = known.repo
    step = next(record.name.step for record in wanted if record.commit == commit)
    later = set(repo.git.run("rev-list", f"{commit}..HEAD", "--", *paths).decode().split())
    names = {record.name for record in wanted}
    others = [record for record in known.records if record.commit in later and not record.undone and record.name not in names]
    by_hand = f"by hand: git revert {commit[:_SHORT]}, mend the files, git revert --continue"
    message = f"undoing {step} conflicts with what came later in {_listed(paths) or 'renamed folders'}; nothing has changed"
    if not others:
        return AgentctlError(message, by_hand)
    all_of_them = " ".join(str(record.name.step) for record in (*wanted, *others))
    return AgentctlError(message, f'undo the later steps there too: agentctl undo {all_of_them} --because "…"; or {by_hand}')


def _refuse_in_the_way(repo: Repo, changes: Sequence[Change]) -> None:
    """Raise AgentctlError where writing `changes` would meet anything that isn't committed."""
    paths = {change.path for change in changes}
    dirty = [path for path in repo.status().modified if path in paths]
    if dirty:
        raise AgentctlError(f"you have changes in files that the undo would touch: {_listed(dirty)}", "git commit them, or put them aside: git stash")
    hidden = sorted(repo.hidden() & paths)
    if hidden:
        raise AgentctlError(
            f"git was told not to look at {_listed(hidden)}, which the undo would touch",
            "git update-index --no-assume-unchanged --no-skip-worktree FILES, then see git status",
        )
    modules = [change.path for change in changes if change.mode == GITLINK]
    if modules:
        raise AgentctlError(f"the undo would move submodules: {_listed(modules)}", "git revert COMMIT, by hand")
    tracked = set(os.fsdecode(repo.git.run("ls-files", "-z")).split("\0"))
    untracked = [path for change in changes if change.kind == "added" for path in _in_the_way(repo, change.path, tracked)]
    if untracked:
        raise AgentctlError(f"files that git doesn't know stand where the undo would write: {_listed(untracked)}", "move them elsewhere")


def _in_the_way(repo: Repo, path: str, tracked: set[str]) -> list[str]:
    """What stands at `path`, at a folder above it, or in a folder of its name, and isn't tracked."""
    for place in (path, *map(str, PurePosixPath(path).parents[:-1])):
        if repo.work.look(place) and not repo.work.is_folder(place) and place not in tracked:
            return [place]
    if repo.work.is_folder(path):
        return [name for name in os.fsdecode(repo.git.run("ls-files", "-z", "--others", "--", f"{path}/")).split("\0") if name]
    return []


def _subject(repo: Repo, commit: str) -> str:
    return repo.git.run("log", "-1", "--format=%s", commit).decode("utf-8", "replace").strip()


def _items_in(repo: Repo, paths: Sequence[str]) -> tuple[str, ...]:
    start = f"{repo.prefix}{FOLDER}/todo/"
    return tuple(path.removeprefix(start).removesuffix(".md") for path in paths if path.startswith(start))


def _open_again(known: Known, wanted: Sequence[Record], gone: Sequence[str]) -> tuple[str, ...]:
    taken = {record.name for record in wanted}
    left = standings(record.name for record in known.records if not record.undone and record.name not in taken)
    items = dict.fromkeys(name.item for name in sorted(taken) if name.item in known.items and name.item not in gone)
    return tuple(item for item in items if left.get(item, Standing()).state is State.OPEN)


def _listed(paths: Sequence[str]) -> str:
    return first_of(paths, 5, 80)
