"""Going on from a step that was broken off: its work and what it had noted are kept under a ref, and both are taken up again."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from agent.actions.paused import Paused, paused_at, set_aside
from agent.actions.putback import held, take_away
from agent.actions.workbench import Workbench
from agent.domain.change import GITLINK
from agent.domain.events import Listener, Phase
from agent.domain.progress import Unfinished, parse_unfinished, render_unfinished, told_as_resumed, with_deed
from agent.domain.text import one_line
from agent.domain.usage import summed
from agent.ledger import Ledger
from agent.repository import snapshot
from agent.repository.changes import changed_between
from agent.repository.repo import Repo
from agent.repository.writing import write_out

FindWork = Callable[[Repo, str, Listener], "Takeup | None"]


class Takeup(Struct, frozen=True):
    """The work of `paused` as it is to be in the tree: `tree`, and what differs in it from HEAD, each with git's status letter."""

    paused: Paused
    tree: str
    changed: Mapping[str, str]


def pause(bench: Workbench) -> str:
    """Break the step off: the tree is put back, and what it had done is kept to go on from. Gives the refs in words, "" where there was nothing.

    A tool that was at work is broken off too: whatever it had changed by then is put back, and kept with the failed attempts. Nothing
    is kept to go on from where the step was about to end without landing: its note is committed. Raises AgentctlError as `Workbench.put_back`.
    """
    repo = bench.repo
    if bench.landed is not None:
        bench.close()
        return ""
    if _ends_without_landing(bench) and finished(bench):
        return ""
    kept = None if _ends_without_landing(bench) else _keep(bench)
    attempt = bench.put_back(repo.commit(kept).tree if kept else "")
    bench.close()
    return " and ".join(ref for ref in (kept, attempt) if ref)


def _ends_without_landing(bench: Workbench) -> bool:
    """Whether nothing but the step's note is to be committed, as long as no hook has refused that."""
    return bench.entry.landing is not None and bench.entry.landing.tree is None


def finished(bench: Workbench) -> bool:
    """Make the commit that was about to be made, and say whether it is there; none is where there was none, HEAD has moved or a hook changes it."""
    landing = bench.entry.landing
    if landing is None or landing.ground != bench.repo.head():
        return False
    if landing.tree is None:
        bench.put_back()
    made = bench.land(landing)
    if made.commit is None or made.strange:
        bench.refuse(made)
        return False
    close_landed(bench)
    return True


def close_landed(bench: Workbench) -> None:
    """The step is over, and nobody goes on from it, should it have been about to be broken off when its agentctl died."""
    snapshot.drop(bench.repo, f"{snapshot.PAUSED}{bench.entry.step}")
    bench.close()


def _keep(bench: Workbench) -> str | None:
    """Point a ref at the last snapshot, with all that is known of the session by now."""
    repo, entry = bench.repo, bench.entry
    work = repo.resolve(f"{snapshot.WIP}{entry.step}")
    calls, usage = Ledger(repo.shared).of(entry.step)
    if work is None and not calls:
        return None
    base = repo.resolve(f"{work}^1") if work else entry.base
    progress = replace(entry.progress, calls=entry.carried_calls + calls, usage=summed([*entry.carried.values(), usage]))
    if entry.doing:
        progress = replace(
            progress, deeds=with_deed(progress.deeds, f"{entry.doing}: it was at work when the session ended; what it changed is put back")
        )
    known = parse_unfinished(repo.commit(work).message) if work else None
    unfinished = replace(known or Unfinished(entry.step, entry.item), progress=progress, carried=entry.carried)
    ref = f"{snapshot.PAUSED}{entry.step}"
    snapshot.keep(repo, ref, repo.commit(work or entry.base).tree, [base or entry.base], render_unfinished(unfinished))
    return ref


def takeup_of(repo: Repo, paused: Paused) -> Takeup | str:
    """How the work of `paused` is taken up on HEAD; or, in a few words, why it can't be."""
    head = repo.head()
    if head is None:
        return "there is no commit here"
    tree = repo.commit(paused.commit).tree if head == paused.base else snapshot.merged(repo, head, paused.commit)
    if tree is None:
        return "what was committed since conflicts with it"
    changed = changed_between(repo, head, tree)
    new = [path for path, letter in changed.items() if letter == "A"]
    mine = [path for path in new if repo.work.look(path) and not _as_before(repo, paused, path)]
    if mine:
        return f"a file of yours is where one of its files was: {one_line(mine[0], 100)}"
    if any(repo.work.through_link(path) for path in changed):
        return "a folder of it is a link now"
    if any(mode == GITLINK for mode, _ in snapshot.entries_of(repo, tree, list(changed)).values()):
        return "it moved a submodule"
    return Takeup(paused, tree, changed)


def to_go_on_from(repo: Repo, item: str, listen: Listener) -> Takeup | None:
    """The work of the newest session at `item` that was broken off. What can't be gone on from is set aside, and that is told."""
    takeup: Takeup | None = None
    for paused in reversed(paused_at(repo, item)):
        found = takeup_of(repo, paused) if takeup is None else "a later session had gone on from there"
        if isinstance(found, Takeup):
            takeup = found
            listen(Phase("resumed", f"going on from {paused.unfinished.step}, which was broken off"))
            continue
        listen(Phase("set aside", f"{paused.unfinished.step} can't be gone on from: {found}; its work is in {set_aside(repo, paused)}"))
    return takeup


def newest_takeup(repo: Repo, item: str) -> Takeup | None:
    """What the next step at `item` would go on from; nothing is set aside."""
    found = (takeup_of(repo, paused) for paused in reversed(paused_at(repo, item)))
    return next((one for one in found if isinstance(one, Takeup)), None)


def to_begin_anew(repo: Repo, item: str, listen: Listener) -> None:
    """For a step that goes on from nothing: whatever was broken off at `item` is set aside, and that is told."""
    for paused in paused_at(repo, item):
        listen(Phase("set aside", f"the work of {paused.unfinished.step} is in {set_aside(repo, paused)}"))


def told_of(takeup: Takeup | None) -> str:
    """What the brief says of the work that is taken up, "" for none."""
    return told_as_resumed(takeup.paused.unfinished, takeup.changed) if takeup else ""


def _as_before(repo: Repo, paused: Paused, path: str) -> bool:
    """Whether an untracked file is the one that the step had written over."""
    blob = paused.unfinished.over.get(path)
    if blob is None or not repo.work.is_file(path):
        return False
    now = held(repo, path)
    return now is not None and now[0] == blob


def take_up(bench: Workbench, takeup: Takeup) -> None:
    """Put the work of an earlier session into the tree, as this step's own; its ref goes when the step's snapshot holds it."""
    repo, unfinished = bench.repo, takeup.paused.unfinished
    bench.before_tool("taking up the work of an earlier session")
    made = [path for path in unfinished.made if path in takeup.changed]
    bench.adopt(written=[path for path in takeup.changed if path not in made], made=made)
    for path in [path for path, letter in takeup.changed.items() if letter == "D"]:
        take_away(repo, path)
    write_out(repo, takeup.tree, [path for path, letter in takeup.changed.items() if letter != "D"])
    bench.after_tool(unfinished.progress)
    snapshot.drop(repo, takeup.paused.ref)
    bench.sharing.recall(snapshot.WIP + unfinished.step)
