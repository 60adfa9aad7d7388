"""Items from a file, from a glob, or from a model that looks around."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from agent.actions.bounds import UNBOUND, Bounds
from agent.actions.claim import claim_step
from agent.actions.metered import metered
from agent.actions.outcome import clean, write_up
from agent.actions.people import Landed, item_files, save
from agent.actions.preflight import pick_up, refuse_uncommittable
from agent.actions.scene import Scene, brief_for, open_scene, under
from agent.actions.spending import purse_for
from agent.domain.adding import in_sequence
from agent.domain.change import GITLINK
from agent.domain.checklist import read_checklist
from agent.domain.each import items_for
from agent.domain.events import Listener, Phase, StepBegan, StepEnded
from agent.domain.names import NoteName, Outcome, StepId, slug_with_tail
from agent.domain.note import Note
from agent.domain.progress import Proposed
from agent.domain.text import one_line, plain
from agent.domain.todo import Item, NewItem, tidy_text, tidy_title, title_key
from agent.domain.usage import NOTHING
from agent.errors import AgentctlError, Exit
from agent.lock import locked
from agent.model.protocol import Model, OpenModel, Task
from agent.model.tokens import count
from agent.repository.repo import FOLDER, Repo
from agent.transcripts import Transcript, open_transcript
from agent.worker.loop import Allowance, Loop
from agent.worker.protocol import Ending, Report
from agent.worker.tools import PLAN_TOOLS, Desk
from agent.worker.workspace import Workspace

PLAN = "plan"
"""What a planning session is called where a step's item would be: in its note's name, the ledger and the recording."""


def plan_from_file(text: str, name: str) -> list[NewItem]:
    """The items of a Markdown checklist or a YAML list, open ones only, in the file's order. Raises BadFileError (see `read_checklist`)."""
    return list(read_checklist(text, name).items)


def plan_each(repo: Repo, glob: str, *, title: str, text: str = "", checks: Sequence[str] = (), allow: Sequence[str] = ()) -> list[NewItem]:
    """An item for each tracked file that `glob` matches, by path (see `items_for`). Paths and glob are relative to `root`.

    `*` stays within a folder, `**` crosses them, as in .gitignore. Raises AgentctlError where nothing matches, or a name can't
    stand in a line of text.
    """
    wanted = glob.removeprefix("./")
    if not wanted:
        raise AgentctlError("the glob is empty", "agentctl plan --each 'src/**/*.py' --title 'Review {path}'")
    paths = [path for path in _matching(repo, wanted) if not path.startswith(f"{FOLDER}/")]
    if not paths:
        hint = f"git ls-files ':(glob){one_line(wanted, 80)}' shows what matches; ** crosses folders: 'src/**/*.py'"
        raise AgentctlError(f"no tracked file matches {one_line(glob, 80)}", hint)
    for path in paths:
        if plain(path) != path or "\n" in path or "\t" in path:
            raise AgentctlError(
                f"the name {plain(path)!r} can't stand in an item: it holds a control character or isn't UTF-8", "git mv it, or take a narrower glob"
            )
    return items_for(paths, wanted, NewItem(title, text, tuple(checks), allow=tuple(allow)))


def _matching(repo: Repo, glob: str) -> list[str]:
    """Tracked files by path, submodules left out."""
    start = "".join(f"\\{char}" if char in "*?[\\" else char for char in repo.prefix)
    out = repo.git.run("ls-files", "-z", "--stage", "--", f":(top,glob){start}{glob}", env={"GIT_LITERAL_PATHSPECS": "0"})
    lines = [line for line in os.fsdecode(out).split("\0") if line and not line.startswith(GITLINK)]
    return sorted({line.partition("\t")[2].removeprefix(repo.prefix) for line in lines})


class PlanResult(Struct, frozen=True):
    """What a planning session left. `known` are titles that the list had already; `ending` says whether it was finished."""

    name: NoteName
    note: Note
    items: tuple[Item, ...]
    known: tuple[str, ...]
    commit: str | None
    ending: Ending


def plan_with_model(
    repo: Repo,
    *,
    model_name: Callable[[str], str],
    open_model: OpenModel,
    listen: Listener,
    now: datetime,
    goal: str | None = None,
    commit: bool = True,
    bounds: Bounds = UNBOUND,
) -> PlanResult:
    """Let a model look around and propose items: they and a note with its letter land as one commit of just these files.

    `goal` stands in for .agent/goal.md, `clock` measures the session's minutes. The work tree may be dirty: nothing else is read into
    the commit. Raises AgentctlError where nothing can be planned or nothing was proposed; then nothing has changed but what was spent.
    """
    with locked(repo.private) as before:
        pick_up(repo, before, listen)
        branch = refuse_uncommittable(repo).branch
        scene = _with_goal(under(bounds.limits, open_scene(repo)), goal)
        purse = purse_for(scene, bounds.meter)
        purse.refuse_empty()
        name = model_name(scene.memory.config.model)
        step = claim_step(repo.shared, PLAN, now, scene.latest)
        transcript = open_transcript(scene.memory.config, repo.shared, step)
        with closing(open_model(name, Task(PLAN, _attempts(scene) + 1, scene.memory.config.prices.get(name)))) as opened:
            model = transcript.of(bounds.around(metered(opened, scene, purse, step, listen)))
            listen(StepBegan(str(step), PLAN, model.name))
            report = _session(scene, model, listen, bounds.clock)
            if repo.status().branch != branch:
                raise AgentctlError("another branch was checked out while the plan was made", f"git switch {branch}, and plan again")
            result = _land(open_scene(repo), step, report, model.name, goal, transcript, commit=commit)
            listen(StepEnded(result.name.outcome, result.commit or "", result.note.spent or NOTHING))
            return result


def _with_goal(scene: Scene, goal: str | None) -> Scene:
    wanted = tidy_text(goal or "") or scene.memory.goal
    if not wanted:
        raise AgentctlError("there is no goal to plan for", f"write it into {FOLDER}/goal.md and commit")
    return replace(scene, memory=replace(scene.memory, goal=wanted))


def _nothing(_told: object) -> None:
    """A planning session changes no file, so there is nothing to watch or keep."""


def _attempts(scene: Scene) -> int:
    return sum(1 for record in scene.history.records if record.name.item == PLAN and record.name.outcome is Outcome.LETTER)


def _session(scene: Scene, model: Model, listen: Listener, clock: Callable[[], float]) -> Report:
    repo, limits = scene.repo, scene.memory.config.limits
    listen(Phase("brief", "plan"))
    brief = brief_for(scene, None, count, "plan.md")
    listen(Phase("work", f"{model.name}, {brief.tokens} tokens of brief"))
    began = time.monotonic()
    loop = Loop(
        model,
        brief,
        PLAN_TOOLS,
        Desk(Workspace(repo.work.below(repo.prefix), repo, keep=lambda _path: None)),
        Allowance(limits.calls, limits.usd, limits.minutes * 60),
        count=count,
        before=_nothing,
        checkpoint=lambda _: False,
        noted=_nothing,
        listen=listen,
        clock=clock,
    )
    report = clean(loop.work(None))
    return replace(report, usage=replace(report.usage, seconds=time.monotonic() - began))


def _land(scene: Scene, step: StepId, report: Report, model: str, goal: str | None, transcript: Transcript, *, commit: bool) -> PlanResult:
    items, known = _proposed(scene, step, report.proposals)
    if not items:
        raise _nothing_proposed(report, known)
    asked = f"The goal that was given: {goal}" if goal else ""
    listed = "\n".join(f"- {item.id}: {item.title}" for item in items)
    text = "\n\n".join(part for part in (report.note, asked, f"Items, in order:\n\n{listed}") if part)
    note = Note.of(f"A plan of {len(items)} items" if len(items) > 1 else "A plan of one item", text, report.letter, report.usage, model)
    writing = write_up(step, Outcome.LETTER, note, [*item_files(scene, items), *transcript.files()])
    landed = _save_or_leave(scene.repo, writing.files, writing.message, commit=commit)
    return PlanResult(writing.name, note, tuple(items), tuple(known), landed.commit, report.ending)


def _proposed(scene: Scene, step: StepId, proposals: Sequence[Proposed]) -> tuple[list[Item], list[str]]:
    titles = {title_key(item.title) for item in scene.memory.items}
    fresh: list[NewItem] = []
    known: list[str] = []
    for one in proposals:
        if title_key(one.title) in titles:
            known.append(tidy_title(one.title))
            continue
        titles.add(title_key(one.title))
        fresh.append(NewItem(tidy_title(one.title), tidy_text(one.text), tuple(check for check in [one.check.strip()] if check)))
    placed = in_sequence(fresh, [item.order for item in scene.memory.items])
    return [Item(slug_with_tail(one.title, f"{step} {one.title}"), one.title, one.text, one.order, checks=one.checks) for one in placed], known


def _nothing_proposed(report: Report, known: Sequence[str]) -> AgentctlError:
    if known:
        return AgentctlError(f"the plan adds nothing: the list has all {len(known)} items that were proposed", "agentctl todo", Exit.NOTHING_LEFT)
    code = Exit.LIMIT if report.ending is Ending.LIMIT else Exit.ERROR
    said = one_line(report.note, 300)
    return AgentctlError(
        f"the model proposed no item{f': {said}' if said else ''}", f"say more in {FOLDER}/goal.md, or take another model with --model", code
    )


def _save_or_leave(repo: Repo, files: Sequence[tuple[str, str]], message: str, *, commit: bool) -> Landed:
    """Save `files`; where a hook refuses their commit they stay in the tree, since the plan was paid for."""
    try:
        return save(repo, files, message, commit=commit)
    except AgentctlError as error:
        save(repo, files, message, commit=False)
        raise AgentctlError(
            f"{error.message}; the plan is left in {FOLDER}/, not committed", f"mend what it names, then: git add {FOLDER} && git commit"
        ) from error
