"""One step: a fresh session's attempt at one item, from the lock to the commit (see docs/protocol.md)."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import closing
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from agent.actions.before import code_key, remember
from agent.actions.bounds import UNBOUND, Bounds
from agent.actions.claim import claim_step
from agent.actions.commits import ground_for
from agent.actions.judging import Judge, shown
from agent.actions.metered import metered
from agent.actions.outcome import Means, Writing, asked, checked_lines, clean, failed, landed, safe
from agent.actions.preflight import pick_up, refuse_unsafe, tidy
from agent.actions.resume import FindWork, Takeup, pause, take_up, to_go_on_from, told_of
from agent.actions.scene import Scene, brief_for, choose, open_scene, under
from agent.actions.setup import set_up
from agent.actions.sharing import sharing_for
from agent.actions.shells import Shells, open_shells
from agent.actions.spending import purse_for
from agent.actions.told import drop_telling
from agent.actions.trust import approve_written, refuse_untrusted
from agent.actions.workbench import Workbench
from agent.domain.events import Listener, Phase, StepBegan, StepEnded
from agent.domain.message import steps_in
from agent.domain.names import NoteName, Outcome, StepId
from agent.domain.note import Note
from agent.domain.text import one_line
from agent.domain.todo import Item
from agent.domain.usage import NOTHING, Usage, summed
from agent.errors import AgentctlError, Exit
from agent.gate.protocol import Baseline, Verdict
from agent.gate.runners import failing_part
from agent.gate.verdict import feedback
from agent.journal import Entry, Journal
from agent.lock import locked
from agent.model.protocol import Model, OpenModel, Task
from agent.model.tokens import count
from agent.repository.landing import Made
from agent.repository.repo import Repo
from agent.transcripts import Transcript, open_transcript
from agent.worker.loop import Allowance, Loop
from agent.worker.protocol import Ending, Report, Session
from agent.worker.tools import STEP_TOOLS, Desk
from agent.worker.workspace import Workspace


class StepResult(Struct, frozen=True):
    """How a step ended. `commit` brought its note; `attempt` is the ref that keeps work which didn't land."""

    name: NoteName
    item: Item
    note: Note
    commit: str
    exit: Exit
    attempt: str | None = None


def take_step(
    repo: Repo,
    identity: str | None,
    *,
    model_name: Callable[[str], str],
    open_model: OpenModel,
    listen: Listener,
    now: datetime,
    bounds: Bounds = UNBOUND,
    find_work: FindWork = to_go_on_from,
) -> StepResult:
    """Take one step at the item `identity`, or at the next one, within the config's limits and `bounds`.

    `model_name` says which model to use, given what the repository's config names; `find_work` which work of an earlier session to
    go on from. Raises AgentctlError where the step was broken off: the tree is as before then, and its work is kept.
    """
    with locked(repo.private) as before:
        pick_up(repo, before, listen)
        tidy(repo, listen)
        status = refuse_unsafe(repo)
        scene = under(bounds.limits, open_scene(repo))
        item = choose(scene, identity)
        refuse_untrusted(repo, item)
        purse = purse_for(scene, bounds.meter)
        purse.refuse_empty()
        name = model_name(scene.memory.config.model)
        step = claim_step(repo.shared, item.id, now, scene.latest)
        sharing = sharing_for(repo, scene.memory.config.push_wip, listen)
        takeup = find_work(repo, item.id, listen)
        transcript = open_transcript(scene.memory.config, repo.shared, step)
        task = Task(item.id, scene.history.attempts[item.id] + 1, scene.memory.config.prices.get(name))
        with closing(open_model(name, task)) as opened, open_shells(repo, scene.memory.config.sandbox) as shells:
            model = transcript.of(bounds.around(metered(opened, scene, purse, step, listen)))
            entry = Entry(str(step), item.id, scene.memory.commit, (*status.untracked, *status.ignored), branch=status.branch)
            bench = Workbench(repo, Journal(repo.private), _carrying(entry, takeup), sharing, status)
            listen(StepBegan(str(step), item.id, model.name))
            try:
                result = _Step(scene, item, step, model, shells, bench, transcript, listen, takeup).take(bounds)
            except BaseException as stop:
                _break_off(bench, stop)
                raise
            listen(StepEnded(result.name.outcome, result.commit, result.note.spent or NOTHING))
            sharing.recall(bench.wip)
            return result


def _carrying(entry: Entry, takeup: Takeup | None) -> Entry:
    if takeup is None:
        return entry
    unfinished = takeup.paused.unfinished
    return replace(entry, progress=unfinished.progress, carried=unfinished.sessions, carried_calls=unfinished.progress.calls)


def _break_off(bench: Workbench, stop: BaseException) -> None:
    """Put the tree back after `stop`, and say there where the work is; what can't be put back is said instead of nothing."""
    try:
        kept = pause(bench)
    except AgentctlError as trouble:
        if not isinstance(stop, AgentctlError):
            raise trouble from stop
        stop.message, stop.hint = f"{stop.message}; and {trouble.message}", trouble.hint
        return
    if kept and isinstance(stop, AgentctlError):
        stop.hint = f"{stop.hint}; what was done so far is kept in {kept}".removeprefix("; ")


class _Step:
    """A step under way: what its parts share."""

    def __init__(
        self,
        scene: Scene,
        item: Item,
        step: StepId,
        model: Model,
        shells: Shells,
        bench: Workbench,
        transcript: Transcript,
        listen: Listener,
        takeup: Takeup | None,
    ) -> None:
        self.scene = scene
        self.item = item
        self.step = step
        self.model = model
        self.shells = shells
        self.means = Means(model.name, shells.weaker, {StepId.known(one): usage for one, usage in bench.entry.carried.items()})
        self.bench = bench
        self.transcript = transcript
        self.listen = listen
        self.takeup = takeup
        self.repo = scene.repo
        self.config = scene.memory.config
        self.judge = Judge(scene, item, shells.checks, bench, listen)
        self.began = time.monotonic()

    def take(self, bounds: Bounds) -> StepResult:
        self.listen(Phase("brief", f"{self.item.id}: {self.item.title}"))
        brief = brief_for(self.scene, self.item, count, resumed=told_of(self.takeup))
        set_up(
            self.repo, self.config.setup, self.scene.memory.commit, self.shells.checks, self.config.limits.check_minutes * 60, self.bench, self.listen
        )
        self.judge.look_before()
        if self.takeup:
            take_up(self.bench, self.takeup)
        self.listen(Phase("work", f"{self.model.name}, {brief.tokens} tokens of brief"))
        workspace = Workspace(self.repo.work.below(self.repo.prefix), self.repo, self.bench.keep)
        limits = self.config.limits
        progress = self.bench.entry.progress
        desk = Desk(workspace, self.shells.work, failing_part, lessons=list(progress.lessons), proposals=list(progress.proposals))
        session = Loop(
            self.model,
            brief,
            STEP_TOOLS,
            desk,
            Allowance(limits.calls, limits.usd, limits.minutes * 60, bounds.deadline),
            count=count,
            before=self.bench.before_tool,
            checkpoint=self.bench.after_tool,
            noted=self.bench.noted,
            progress=progress,
            listen=self.listen,
            clock=bounds.clock,
        )
        return self._until_judged(session, desk)

    def _until_judged(self, session: Session, desk: Desk) -> StepResult:
        """Let the session work until what it hands in lands, or it ends for another reason."""
        verdict: Verdict | None = None
        claimed: Report | None = None
        said: str | None = None
        while True:
            written = session.work(said)
            report = clean(written)
            if report.ending is Ending.ASKED:
                return self._without_landing(asked(self.step, self.item, report, self._usage(report), self.means), Exit.PERSON_NEEDED)
            if report.ending is Ending.LIMIT and report.limit == "deadline":
                raise AgentctlError("the time of the run was over before the step was finished", "agentctl run, with more", Exit.LIMIT)
            if report.ending is not Ending.FINISHED:
                return self._failed(report, claimed, verdict)
            claimed = report
            verdict, tree = self.judge.judge(written)
            if verdict.ok:
                outcome = self._land(report, verdict, tree)
                if isinstance(outcome, StepResult):
                    return outcome
                self.bench.goes_on()
                verdict = Verdict(verdict.checks, (f"a hook of the repository refused the commit: {one_line(safe(outcome), 1500)}",))
            drop_telling(desk, self.item.allow)
            said = feedback(verdict, self.judge.before)

    def _usage(self, report: Report) -> Usage:
        return replace(report.usage, seconds=summed(self.bench.entry.carried.values()).seconds + time.monotonic() - self.began)

    # --- endings ---------------------------------------------------------------------------------------------------

    def _land(self, report: Report, verdict: Verdict, tree: str) -> StepResult | str:
        """Commit the step; or why it could not be. A hook that only mended the step's files is tried once more with what it made."""
        self.listen(Phase("commit"))
        writing, made = self._commit(report, verdict, tree)
        if made.commit is None and _UNSIGNED.search(made.said):
            raise AgentctlError(
                f"git could not sign the commit: {one_line(safe(made.said), 300)}", "unlock the key, or see git config commit.gpgSign"
            )
        if made.commit is None or made.strange:
            refused = self._mended(report, tree, made)
            if isinstance(refused, str):
                return refused
            writing, made = self._commit(report, *refused)
            if made.commit is None:
                return made.said
            if made.strange:
                self.bench.refuse(made)
                return _swapped(made)
        remember(
            self.repo,
            code_key(self.repo, made.commit, self.shells.checks.told),
            {check.command: Baseline(check.ok, check.tally) for check in verdict.checks},
        )
        self._confirm(made.commit)
        self.bench.close()
        return StepResult(writing.name, self.item, writing.note, made.commit, Exit.OK)

    def _commit(self, report: Report, verdict: Verdict, tree: str) -> tuple[Writing, Made]:
        checked = checked_lines(verdict, self.judge.before)
        others = self.bench.beside()
        if others:
            checked = (*checked, f"beside changes that are somebody else's and not in this commit: {shown(others)}")
        writing = landed(self.step, self.item, report, self._usage(report), self.means, checked, self.scene.memory)
        approve_written(self.repo, writing.files, [None] * len(writing.files))
        return writing, self.bench.land(self.bench.intend(tree, (*writing.files, *self.transcript.files()), writing.message))

    def _mended(self, report: Report, tree: str, made: Made) -> tuple[Verdict, str] | str:
        """What a hook made of the step's files, judged again; or why that can't land: the hook only refused, or put in something else."""
        if made.commit is not None:
            self.bench.refuse(made)
        again, mended = self.judge.judge(report)
        if mended == tree:
            return _swapped(made) if made.commit else made.said
        if not again.ok:
            return f"{made.said} (and with what the hook changed, the checks fail)"
        return again, mended

    def _confirm(self, commit: str) -> None:
        if self.step not in steps_in(self.repo.commit(commit).message):
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
        writing = failed(self.step, outcome, self.item, report, claimed, verdict, self._usage(report), self.means, self.judge.before)
        return self._without_landing(writing, code)

    def _without_landing(self, writing: Writing, code: Exit) -> StepResult:
        """Put the tree back and commit the note alone."""
        self.listen(Phase("put back"))
        self.bench.ground = ground_for(self.repo, self.scene.memory.commit, self.item.id)
        landing = self.bench.intend(None, (*writing.files, *self.transcript.files()), writing.message)
        attempt = self.bench.put_back()
        made = self.bench.land(landing)
        if made.strange:
            self.bench.refuse(made)
        if made.commit is None or made.strange:
            raise AgentctlError(
                f"the step did not land, and a hook refused its note too: {one_line(safe(made.said), 300)}",
                f"let the hook pass commits that only add to .agent/notes{f'; the work is kept in {attempt}' if attempt else ''}",
                Exit.GATE_FAILED,
            )
        self.bench.close()
        return StepResult(writing.name, self.item, writing.note, made.commit, code, attempt)


_UNSIGNED = re.compile(r"failed to sign|gpg failed|error: unable to sign", re.IGNORECASE)


def _swapped(made: Made) -> str:
    return f"it put into the commit what was not checked: {shown(made.strange)}"
