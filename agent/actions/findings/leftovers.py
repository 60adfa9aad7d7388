"""What a crash left behind: a journal, work in progress, a torn line of the ledger."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator

from agent.actions.findings.finding import Finder, Finding, Look
from agent.actions.paused import all_paused
from agent.actions.preflight import recover
from agent.actions.undo_tree import begun
from agent.domain.todo import Standing, State
from agent.errors import AgentctlError
from agent.journal import Journal
from agent.ledger import Holds, Ledger
from agent.lock import holder, locked
from agent.repository import snapshot
from agent.repository.repo import Repo


def journal(look: Look) -> Iterator[Finding]:
    """A step or an undo was under way when agentctl died."""
    repo = look.repo
    at_work = holder(repo.private)
    if at_work is not None:
        yield Finding("info", f"an agentctl (process {at_work}) is at work here")
        return
    entry = Journal(repo.private).read()
    if begun(repo):
        yield Finding(
            "warning", "an earlier agentctl died during an undo; the next step picks that up", "agentctl doctor --fix", lambda: _pick_up(repo)
        )
    if entry is not None:
        text = f"an earlier agentctl died during {entry.step}; the next step picks that up"
        if repo.head() != entry.base:
            text = f"an earlier agentctl died during {entry.step}, and HEAD has moved since"
        yield Finding("warning", text, "look at git status, then: agentctl doctor --fix", lambda: _pick_up(repo))


def _pick_up(repo: Repo) -> str:
    """As the next step would; where HEAD has moved the tree stays as it is, and the work is kept."""
    with locked(repo.private) as before:
        entry = Journal(repo.private).read()
        try:
            return recover(repo, before) or "nothing was left of it"
        except AgentctlError:
            if entry is None or repo.head() == entry.base:
                raise
        kept = snapshot.rename(repo, f"{snapshot.WIP}{entry.step}", f"{snapshot.ATTEMPTS}{entry.step}")
        Journal(repo.private).clear()
        where = f"; what it had done is kept in {snapshot.ATTEMPTS}{entry.step}" if kept else ""
        if repo.resolve(f"{snapshot.KEPT}{entry.step}"):
            where += f", and files of yours that it had written over in {snapshot.KEPT}{entry.step}"
        return f"{entry.step} is given up and your files stay as they are{where}"


def work_in_progress(look: Look) -> Iterator[Finding]:
    """Refs of steps that nobody will go on with."""
    repo = look.repo
    if holder(repo.private) is not None:
        return
    entry = Journal(repo.private).read()
    for ref in (one.name for one in snapshot.refs(repo, snapshot.WIP)):
        step = ref.removeprefix(snapshot.WIP)
        if entry is None or entry.step != step:
            fix = _keeper(repo, ref, f"{snapshot.ATTEMPTS}{step}")
            yield Finding("info", f"work in progress was left in {ref}", f"git diff HEAD {shlex.quote(ref)} shows it", fix)


def _keeper(repo: Repo, ref: str, kept: str) -> Callable[[], str]:
    def keep() -> str:
        with locked(repo.private):
            snapshot.rename(repo, ref, kept)
        return f"{ref} is now {kept}"

    return keep


def paused(look: Look) -> Iterator[Finding]:
    """Work of steps that were broken off: the next step at the item goes on from there, if there is one."""
    still_open = {item.id for item in look.items if look.standings.get(item.id, Standing()).state is State.OPEN}
    for one in all_paused(look.repo):
        step, item = one.unfinished.step, one.unfinished.item
        if item in still_open:
            yield Finding(
                "info", f"{step} was broken off; the next step at {item} goes on from there", f"to begin anew: agentctl step --restart {item}"
            )
        else:
            fix = _keeper(look.repo, one.ref, snapshot.ATTEMPTS + step)
            yield Finding(
                "info", f"{step} was broken off, and {item} isn't open any more", f"git diff HEAD {shlex.quote(one.ref)} shows its work", fix
            )


def torn_ledger(look: Look) -> Iterator[Finding]:
    """Lines of the ledger that a crash tore."""
    _, torn = Ledger(look.repo.shared).read()
    if torn:
        lines = "1 line" if torn == 1 else f"{torn} lines"
        yield Finding("info", f"{lines} of the ledger can't be read: what those calls cost isn't counted", f"see {look.repo.shared / 'ledger.jsonl'}")


def unsettled(look: Look) -> Iterator[Finding]:
    """Calls of which nobody knows what they cost."""
    holds = Holds(look.repo.shared)
    standing = holds.open(Ledger(look.repo.shared))
    if standing:
        usd = sum(hold.usd for hold in standing)
        text = f"calls that are under way or were broken off, {len(standing)}, count against the caps with the most that they can cost, {usd:.4f} USD"
        files = " ".join(shlex.quote(str(holds.folder / f"{hold.name}.json")) for hold in standing[:5])
        yield Finding("info", text, f"where nothing is under way, and your provider's page says that they cost nothing: rm {files}")


def no_ledger(look: Look) -> Iterator[Finding]:
    """Steps are there, but not what this clone paid for them."""
    calls, torn = Ledger(look.repo.shared).read()
    if look.records and not calls and not torn:
        yield Finding("info", "this clone has no ledger: costs are those that notes and commits tell", "nothing to do: steps taken here begin one")


LEFTOVERS: tuple[Finder, ...] = (journal, work_in_progress, paused, torn_ledger, unsettled, no_ledger)
