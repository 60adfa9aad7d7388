"""What people read on stdout: the list, where it stands, the log, the cost, a step's end."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from agent.actions.life import Alive
from agent.actions.overview import Cost, Line, Row, Where
from agent.actions.spending import Budget
from agent.domain.caps import Cap
from agent.domain.config import NO_SANDBOX
from agent.domain.message import reason_of
from agent.domain.names import NoteName, Outcome
from agent.domain.note import Note
from agent.domain.text import one_line, plain
from agent.domain.todo import State
from agent.domain.usage import Usage
from agent.render.columns import Cell, columns, heading, width

if TYPE_CHECKING:  # a step's imports are more than all that other commands need
    from agent.actions.run import RunResult
    from agent.actions.step import StepResult

_COLOUR = {State.OPEN: "", State.DONE: "green", State.BLOCKED: "red", State.DROPPED: "dim"}
_OUTCOME_COLOUR = {Outcome.DONE: "green", Outcome.FAILED: "yellow", Outcome.BLOCKED: "red"}
_BAR = 20


def todo_text(rows: list[Row], *, everything: bool) -> str:
    """The list: progress, then what is open or blocked; all of it with `everything`."""
    if not rows:
        return "The list is empty. Fill it: agentctl plan, or agentctl todo add TITLE"
    counts = {state: sum(1 for row in rows if row.standing.state is state) for state in State}
    shown = [row for row in rows if everything or row.standing.state in (State.OPEN, State.BLOCKED)]
    hidden = [f"{counts[state]} {state}" for state in (State.DONE, State.DROPPED) if counts[state] and not everything]
    parts = [progress_line(counts)]
    if shown:
        parts.append(columns([_row(row) for row in shown]))
    if hidden:
        parts.append(f"  and {', '.join(hidden)}: agentctl todo --all")
    return "\n".join(parts)


def progress_line(counts: dict[State, int]) -> str:
    """A bar and the numbers; dropped items count neither way."""
    done = counts.get(State.DONE, 0)
    whole = sum(counts.values()) - counts.get(State.DROPPED, 0)
    filled = round(_BAR * done / whole) if whole else 0
    numbers = [f"{done} of {whole} done", *(f"{counts[state]} {state}" for state in (State.OPEN, State.BLOCKED, State.DROPPED) if counts.get(state))]
    return f"{'█' * filled}{'░' * (_BAR - filled)} {', '.join(numbers)}"


def _row(row: Row) -> list[Cell]:
    state = "next" if row.is_next else row.standing.state.value
    tries = f"{row.standing.failures} failed" if row.standing.failures else ""
    told = " · ".join(part for part in (tries, row.why) if part)
    colour = "cyan" if row.is_next else _COLOUR[row.standing.state]
    return [(state, colour), (row.item.id, "bold" if row.is_next else ""), (f"{row.item.title}{f'  ({told})' if told else ''}", "")]


def item_text(row: Row, notes: list[tuple[NoteName, Note | None]]) -> str:
    """One item, whole: text, checks, and what was said and tried."""
    item = row.item
    facts: list[list[Cell]] = [[("id", "dim"), (item.id, "")], [("state", "dim"), (row.standing.state.value, _COLOUR[row.standing.state])]]
    facts += [[("after", "dim"), (", ".join(item.after), "")]] if item.after else []
    facts += [[("check", "dim"), (check, "")] for check in item.checks]
    facts += [[("allow", "dim"), (", ".join(item.allow), "")]] if item.allow else []
    parts = [heading(plain(item.title)), columns(facts)]
    parts += [plain(item.text)] if item.text else []
    for name, note in notes:
        first = note.text.split("\n\n", 1)[0] if note else "(undone; agentctl log tells by whom)"
        parts.append(f"{heading(f'{name.step.at:%Y-%m-%d %H:%M} UTC {name.outcome}')}  {name.step}\n{plain(first)}")
    return "\n\n".join(parts)


def status_text(where: Where, mismatches: list[str]) -> str:
    """Where it stands, in a few lines."""
    facts: list[list[Cell]] = [[("items", "dim"), (progress_line(where.counts), "")]]
    if where.following:
        facts.append([("next", "dim"), (f"{where.following.id}: {where.following.title}", "")])
    facts += [[("blocked", "dim"), (f"{row.item.id}: {row.why}", "")] for row in where.blocked[:5]]
    if where.letter:
        name, note = where.letter
        facts.append([("letter", "dim"), (f"{name.step.at:%Y-%m-%d %H:%M} UTC, {name.item}: {one_line(note.letter, 400)}", "")])
    if where.undone:
        why = f": {one_line(reason_of(where.undone.undone_by.message), 300)}" if where.undone.undone_by else ""
        facts.append([("undone", "dim"), (f"{where.undone.name.step}{why}", "")])
    facts += _life_facts(where)
    facts += [[("broken off", "dim"), (f"{step}; agentctl step goes on from there", "")] for step in where.paused]
    facts.append([("spent", "dim"), (usage_text(where.spent), "")])
    facts += _budget(where.budget)
    if where.sandbox:
        means = "commands can do whatever you can" if where.sandbox == NO_SANDBOX else "agentctl doctor says what it leaves open"
        facts.append([("sandbox", "dim"), (f"{where.sandbox}: {means}", "yellow")])
    facts += [[("mismatch", "red"), (text, "")] for text in mismatches]
    return columns(facts, indent="")


_COLOUR_OF_LIFE = {Alive.WORKING: "", Alive.WAITING: "", Alive.STUCK: "red", Alive.DEAD: "red"}


def _life_facts(where: Where) -> list[list[Cell]]:
    if where.life is None:
        return [] if where.running is None else [[("running", "dim"), (f"process {where.running}", "")]]
    life, pulse = where.life, where.life.pulse
    doing = " · ".join(part for part in (pulse.item, pulse.phase, pulse.doing) if part)
    last = f", last call {pulse.called:%H:%M}" if pulse.called else ""
    facts: list[list[Cell]] = [[(life.alive.value, "dim"), (f"process {pulse.pid}: {doing}, since {pulse.since:%Y-%m-%d %H:%M} UTC{last}", "")]]
    if life.why:
        facts.append([("", ""), (f"{life.why}: {life.mend}", _COLOUR_OF_LIFE[life.alive])])
    return facts


def _budget(budget: Budget) -> list[list[Cell]]:
    """What is left of the caps, which alerts were due, and what isn't known of what was spent."""
    facts: list[list[Cell]] = [[("cap", "dim"), (_cap(cap), "" if cap.left else "red")] for cap in budget.caps]
    facts += [
        [("alert", "dim"), (f"{amount:g} USD {'passed' if passed else 'not reached'}", "yellow" if passed else "")]
        for amount, passed in budget.alerts
    ]
    if budget.unsettled:
        told = f"up to {budget.held.usd:.4f} USD more: calls under way or broken off, {len(budget.unsettled)}, count against the caps with their most"
        facts.append([("unsettled", "yellow"), (told, "")])
    if budget.torn:
        facts.append([("torn", "yellow"), (f"lines of the ledger that can't be read, so not counted: {budget.torn}", "")])
    return facts


def _cap(cap: Cap) -> str:
    held = f", up to {cap.text(cap.held)} unsettled" if cap.held else ""
    return f"{cap.key}: {cap.text(cap.spent)} of {cap.text(cap.most)} spent{held}, {cap.text(cap.left)} left"


def usage_text(usage: Usage) -> str:
    """Money, tokens, and the share of the input that came from the provider's cache."""
    money = "price unknown" if usage.usd is None else f"{usage.usd:.4f} USD"
    share = f" ({usage.cached * 100 // usage.input} % cached)" if usage.input else ""
    return f"{money}, {usage.input:,} tokens in{share}, {usage.output:,} out"


def log_text(lines: list[Line], most: int) -> str:
    """The steps, newest first."""
    if not lines:
        return "No step was taken yet: agentctl step"
    shown = columns([_log_row(line) for line in lines[:most]], indent="")
    return shown + (f"\nand {len(lines) - most} older: agentctl log --all" if len(lines) > most else "")


def _log_row(line: Line) -> list[Cell]:
    record = line.record
    name = record.name
    usd = "" if line.usage is None else ("?" if line.usage.usd is None else f"{line.usage.usd:.4f}")
    return [
        (f"{name.step.at:%Y-%m-%d %H:%M}", "dim"),
        (name.outcome.value, "dim" if record.undone else _OUTCOME_COLOUR.get(name.outcome, "")),
        ((record.commit or "")[:10] or "-", "yellow"),
        (usd, ""),
        (name.item + _undone(line), "dim" if record.undone else ""),
    ]


def _undone(line: Line) -> str:
    if not line.record.undone:
        return ""
    by = line.record.undone_by
    return f"  undone by {by.author} in {by.id[:10]}: {reason_of(by.message)}" if by else "  undone"


def cost_text(cost: Cost) -> str:
    """What was spent, by day, item and model."""
    parts = [f"{heading('total')}  {usage_text(cost.total)}"]
    if cost.unpriced:
        parts.append(f"of {cost.unpriced} steps the model's price is unknown: their tokens count, their money doesn't")
    facts = _budget(cost.budget)
    parts += [columns(facts, indent="")] if facts else []
    for title, sums in (("day", cost.days), ("item", cost.items), ("model", cost.models)):
        if sums:
            parts.append(f"{heading(f'by {title}')}\n" + columns([[(key, ""), (usage_text(usage), "")] for key, usage in sums.items()]))
    return "\n\n".join(parts)


def note_text(name: NoteName, note: Note) -> str:
    """A note as a person reads it."""
    facts: list[list[Cell]] = [
        [("step", "dim"), (str(name.step), "")],
        [("outcome", "dim"), (name.outcome.value, _OUTCOME_COLOUR.get(name.outcome, ""))],
    ]
    facts += [[("model", "dim"), (note.model, "")]] if note.model else []
    facts += [[("spent", "dim"), (f"{usage_text(note.spent)}, {note.spent.seconds:.0f} s", "")]] if note.spent else []
    facts += [[("checked", "dim"), (line, "")] for line in note.checked]
    facts += [[("sandbox", "dim"), (note.sandbox, "yellow")]] if note.sandbox else []
    parts = [heading(plain(note.title)), columns(facts)]
    parts += [plain(note.text)] if note.text else []
    parts += [f"{heading('Handoff')}\n{plain(note.letter)}"] if note.letter else []
    return "\n\n".join(parts)


_ENDED = {Outcome.DONE: "landed", Outcome.FAILED: "did not land", Outcome.BLOCKED: "is blocked"}


def step_text(result: StepResult) -> str:
    """How a step ended, and what to type next."""
    name, item = result.name, result.item.id
    lines = [f"{heading(item)} {_ENDED.get(name.outcome, name.outcome.value)}, commit {result.commit[:10]}: {plain(result.item.title)}"]
    first = result.note.text.split("\n\n", 1)[0]
    lines += [f"  {line}" for text in plain(first).split("\n") for line in wrap(text, max(40, width() - 2)) or [""]]
    lines += [f"  check {line}" for line in result.note.checked]
    lines += [f"  sandbox {result.note.sandbox}"] if result.note.sandbox else []
    if result.note.spent:
        lines.append(f"  {usage_text(result.note.spent)}, {result.note.spent.seconds:.0f} s")
    return "\n".join(lines) + "\n" + columns(_ways_on(result), indent="  ")


def _ways_on(result: StepResult) -> list[list[Cell]]:
    item = result.item.id
    ways = [(f"agentctl note {item}", "its whole note")]
    if result.name.outcome is Outcome.DONE:
        ways.append((f"agentctl undo {item}", "take it back, with the reason"))
    if result.attempt:
        ways.append((f"git diff HEAD {result.attempt}", "what it had changed"))
    if result.name.outcome is Outcome.BLOCKED:
        ways.append((f'agentctl todo reopen {item} --because "…"', "when you have settled it"))
    return [[(command, "bold"), (told, "dim")] for command, told in ways]


def run_text(result: RunResult, rows: list[Row]) -> str:
    """How a run ended: why, what landed, what is blocked and why, and what it cost."""
    outcomes = [step.name.outcome for step in result.steps]
    numbers = ", ".join(f"{outcomes.count(outcome)} {told}" for outcome, told in _ENDED.items() if outcomes.count(outcome))
    lines = ["", f"{heading('run ended:')} {result.why}"]
    lines += [f"  {result.hint}"] if result.hint else []
    lines.append(f"{len(result.steps)} steps{f': {numbers}' if numbers else ''}; {usage_text(result.spent)}")
    lines.append(progress_line({state: sum(1 for row in rows if row.standing.state is state) for state in State}))
    blocked = [row for row in rows if row.standing.state is State.BLOCKED]
    if blocked:
        lines.append(columns([_row(row) for row in blocked]))
    return "\n".join(lines)
