"""One step: a fresh session's attempt at one item, from the lock to the commit (see docs/protocol.md)."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime

from agent.actions.before import code_key, red_before, remember, told_as_before
from agent.actions.outcome import Writing, asked, checked_lines, clean, failed, landed
from agent.actions.preflight import recover, refuse_unsafe
from agent.actions.scene import Scene, brief_for, choose, open_scene
from agent.actions.workbench import Workbench
from agent.domain.change import Change
from agent.domain.events import Listener, Phase
from agent.domain.message import steps_in
from agent.domain.names import NoteName, Outcome, StepId, next_step_id
from agent.domain.note import Note
from agent.domain.text import one_line
from agent.domain.todo import Item
from agent.domain.usage import Usage
from agent.errors import AgentctlError, Exit
from agent.gate.protect import SizeLimits
from agent.gate.protocol import Verdict
from agent.gate.verdict import feedback, gate
from agent.journal import Entry, Journal
from agent.ledger import Call, Ledger, now_text
from agent.lock import locked
from agent.model.protocol import Model, OpenModel, Task
from agent.model.tokens import count
from agent.repository.changes import added_lines, changes_between
from agent.repository.repo import FOLDER, Repo, changed_between
from agent.worker.loop import Allowance, Loop
from agent.worker.protocol import Ending, Report, Session
from agent.worker.tools import STEP_TOOLS, Desk
from agent.worker.workspace import Workspace


@dataclass(frozen=True)
class StepResult:
    """How a step ended. `commit` brought its note; `attempt` is the ref that keeps work which didn't land."""

    name: NoteName
    item: Item
    note: Note
    commit: str
    exit: Exit
    attempt: str | None = None


@dataclass(frozen=True)
class Bounds:
    """What a run leaves for its next step: USD, and seconds of `clock` (which may stand still while a provider is waited for)."""

    usd: float = math.inf
    seconds: float = math.inf
    clock: Callable[[], float] = time.monotonic


def take_step(
    repo: Repo,
    identity: str | None,
    *,
    model_name: Callable[[str], str],
    open_model: OpenModel,
    listen: Listener,
    now: datetime,
    bounds: Bounds = Bounds(),
) -> StepResult:
    """Take one step at the item `identity`, or at the next one, within the config's limits and `bounds`.

    `model_name` says which model to use, given what the repository's config names. Raises AgentctlError where no step
    could be taken; nothing has changed then but what was spent.
    """
    with locked(repo.private):
        told = recover(repo)
        if told:
            listen(Phase("recovered", told))
        status = refuse_unsafe(repo)
        scene = open_scene(repo)
        item = choose(scene, identity)
        name = model_name(scene.memory.config.model)
        step = next_step_id(item.id, now, scene.latest)
        with closing(open_model(name, Task(item.id, len(scene.history.attempts_at(item.id)) + 1))) as model:
            entry = Entry(str(step), item.id, scene.memory.commit, status.untracked)
            bench = Workbench(repo, Journal(repo.private), entry)
            try:
                return _Step(scene, item, step, model, bench, listen).take(bounds)
            except BaseException as stop:
                ref = bench.put_back()
                if ref and isinstance(stop, AgentctlError):
                    stop.hint = f"{stop.hint}; what was done so far is kept in {ref}".removeprefix("; ")
                raise


class _Step:
    """A step under way: what its parts share."""

    def __init__(self, scene: Scene, item: Item, step: StepId, model: Model, bench: Workbench, listen: Listener) -> None:
        self.scene = scene
        self.item = item
        self.step = step
        self.model = model
        self.bench = bench
        self.listen = listen
        self.repo = scene.repo
        self.config = scene.memory.config
        self.commands = tuple(dict.fromkeys([*self.config.checks, *item.checks]))
        self.began = time.monotonic()
        self.red_before: frozenset[str] = frozenset()
        self.bounds_bind = False

    def take(self, bounds: Bounds) -> StepResult:
        self.listen(Phase("brief", f"{self.item.id}: {self.item.title}"))
        brief = brief_for(self.scene, self.item, count)
        self.red_before = self._red_before()
        self.listen(Phase("work", f"{self.model.name}, {brief.tokens} tokens of brief"))
        workspace = Workspace(self.repo.root, self.repo, self.bench.keep)
        limits = self.config.limits
        self.bounds_bind = bounds.usd < limits.usd or bounds.seconds < limits.minutes * 60
        session = Loop(
            self.model,
            brief,
            STEP_TOOLS,
            Desk(workspace),
            Allowance(limits.calls, min(limits.usd, bounds.usd), min(limits.minutes * 60, bounds.seconds)),
            count=count,
            charge=self._charge,
            checkpoint=self.bench.after_tool,
            listen=self.listen,
            clock=bounds.clock,
        )
        return self._until_judged(session)

    def _until_judged(self, session: Session) -> StepResult:
        """Let the session work until what it hands in lands, or it ends for another reason."""
        verdict: Verdict | None = None
        claimed: Report | None = None
        said: str | None = None
        while True:
            report = clean(session.work(said), os.environ)
            if report.ending is Ending.ASKED:
                return self._without_landing(asked(self.step, self.item, report, self._usage(report), self.model.name), Exit.PERSON_NEEDED)
            if report.ending is Ending.LIMIT and self.bounds_bind:
                raise AgentctlError("what the run may still use was too little to finish the step", "agentctl run, with more", Exit.LIMIT)
            if report.ending is not Ending.FINISHED:
                return self._failed(report, claimed, verdict)
            claimed = report
            verdict, tree = self._judge(report)
            if verdict.ok:
                outcome = self._land(report, verdict, tree)
                if isinstance(outcome, StepResult):
                    return outcome
                verdict = Verdict(verdict.checks, (f"a hook of the repository refused the commit: {one_line(outcome, 1500)}",))
            said = feedback(verdict)

    # --- before and after the work ---------------------------------------------------------------------------------

    def _red_before(self) -> frozenset[str]:
        base = self.scene.memory.commit
        self.listen(Phase("base checks", "on the commit that the step begins from"))
        clean = self.bench.tree(())
        red = red_before(self.repo, base, self.commands, self._check_seconds(), told_as_before(self.listen))
        self.bench.after_checks()
        self.bench.make_be(clean, self.bench.tree(()))
        return red

    def _check_seconds(self) -> float:
        return self.config.limits.check_minutes * 60

    def _charge(self, usage: Usage) -> None:
        Ledger(self.repo.shared).add(Call(now_text(), str(self.step), self.item.id, self.model.name, usage))

    def _usage(self, report: Report) -> Usage:
        return replace(report.usage, seconds=time.monotonic() - self.began)

    # --- the gate --------------------------------------------------------------------------------------------------

    def _judge(self, report: Report) -> tuple[Verdict, str]:
        """The gate's verdict on the tree as it stands, and that tree: what lands is what was there when the checks began."""
        base = self._base()
        tree = self.bench.result(report.note)
        changes = changes_between(self.repo, base, tree)
        own = [*self._outside(changes), *self._unclaimed(report.note)]
        if own:
            return Verdict((), tuple(own)), tree
        self.listen(Phase("gate", f"changed files: {len(changes)}, checks: {len(self.commands)}"))
        limits = self.config.limits
        verdict = gate(
            commands=self.commands,
            changes=changes,
            added=added_lines(self.repo, base, tree),
            root=self.repo.root,
            limits=SizeLimits(limits.file_bytes, limits.lines),
            timeout=self._check_seconds(),
            environment=os.environ,
            listen=self.listen,
            red_before=self.red_before,
            allow_no_change="no-change" in self.item.allow,
            memory=f"{self.repo.prefix}{FOLDER}",
        )
        self.bench.after_checks()
        self.bench.make_be(tree, self.bench.result(report.note))
        return verdict, tree

    def _outside(self, changes: tuple[Change, ...]) -> list[str]:
        outside = [change.path for change in changes if not change.path.startswith(self.repo.prefix)]
        return [f"{one_line(path, 100)} lies outside {self.repo.prefix}, the folder of this list: put it back" for path in outside[:5]]

    def _unclaimed(self, note: str) -> list[str]:
        paths = [one_line(path, 100) for path in self.bench.unclaimed(note)]
        if not paths:
            return []
        shown = ", ".join(paths[:8]) + (f" and {len(paths) - 8} more" if len(paths) > 8 else "")  # noqa: PLR2004 - what one line holds
        return [f"commands made new files: {shown}. Delete what isn't part of the step; name in your note (the path, or its folder with a /) what is"]

    # --- endings ---------------------------------------------------------------------------------------------------

    def _land(self, report: Report, verdict: Verdict, tree: str) -> StepResult | str:
        """Commit the step; or what the hook said that refused it. A hook that only mended the step's files is tried once more."""
        base = self._base()
        self.listen(Phase("commit"))
        checked = checked_lines(verdict.checks, self.red_before)
        writing = landed(self.step, self.item, report, self._usage(report), self.model.name, checked, self.scene.memory)
        commit, said = self.bench.land(base, tree, writing.files, writing.message)
        if commit is None:
            again, mended = self._judge(report)
            if mended == tree:
                return said
            if not again.ok:
                return f"{said} (and with what it changed, the checks fail)"
            commit, said = self.bench.land(base, mended, writing.files, writing.message)
            if commit is None:
                return said
        self._confirm(commit)
        remember(self.repo, code_key(self.repo, commit), {check.command: check.ok for check in verdict.checks})
        self.bench.close()
        return StepResult(writing.name, self.item, writing.note, commit, Exit.OK)

    def _base(self) -> str:
        """The commit to land on: the one that the step began from, or one that people put on it and that only adds to `.agent/`."""
        base, head = self.scene.memory.commit, self.repo.head()
        if head is None or any(not path.startswith(f"{self.repo.prefix}{FOLDER}/") for path in changed_between(self.repo, base, head)):
            raise AgentctlError("HEAD moved while the step was at work, so its checks say nothing about what is there now", "agentctl step")
        return head

    def _confirm(self, commit: str) -> None:
        message = self.repo.git.run("log", "-1", "--format=%B", commit).decode("utf-8", "replace")
        if self.step not in steps_in(message):
            raise AgentctlError(
                f"a hook took the step's trailer out of the message of {commit[:10]}", "let the hook keep lines that begin with Agent-"
            )

    def _failed(self, report: Report, claimed: Report | None, verdict: Verdict | None) -> StepResult:
        failures = self.scene.standing(self.item.id).failures + 1
        used_up = failures >= self.config.limits.attempts
        outcome = Outcome.BLOCKED if used_up else Outcome.FAILED
        if used_up:
            report = replace(report, note=f"{report.note}\n\nThis was attempt {failures} of {failures}: a person is needed.")
        code = Exit.LIMIT if used_up or report.ending is Ending.LIMIT else Exit.GATE_FAILED
        writing = failed(self.step, outcome, self.item, report, claimed, verdict, self._usage(report), self.model.name)
        return self._without_landing(writing, code)

    def _without_landing(self, writing: Writing, code: Exit) -> StepResult:
        """Put the tree back and commit the note alone."""
        self.listen(Phase("put back"))
        attempt = self.bench.put_back()
        base = self._base()
        commit, said = self.bench.land(base, base, writing.files, writing.message)
        if commit is None:
            raise AgentctlError(
                f"the step did not land, and a hook refused its note too: {one_line(said, 300)}",
                f"let the hook pass commits that only add to .agent/notes{f'; the work is kept in {attempt}' if attempt else ''}",
                Exit.GATE_FAILED,
            )
        self.bench.close()
        return StepResult(writing.name, self.item, writing.note, commit, code, attempt)
