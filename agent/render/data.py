"""The JSON forms of what commands print. Documented in docs/json.md; stable."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from agent.actions.life import Life
from agent.actions.overview import Cost, Line, Row, Where
from agent.actions.spending import Budget
from agent.domain.brief import Brief
from agent.domain.pulse import time_text
from agent.domain.todo import State
from agent.domain.usage import Usage

if TYPE_CHECKING:  # a step's imports are more than all that other commands need
    from agent.actions.run import RunResult
    from agent.actions.step import StepResult


def usage_data(usage: Usage) -> dict[str, Any]:
    """Money in USD (null where the price is unknown), tokens; `input` includes `cached`."""
    return {"usd": usage.usd, "input": usage.input, "cached": usage.cached, "output": usage.output}


def budget_data(budget: Budget) -> dict[str, Any]:
    """What `status` and `cost` say of caps and alerts."""
    caps = [{"name": cap.key, "most": cap.most, "spent": cap.spent, "held": cap.held, "left": cap.left} for cap in budget.caps]
    return {
        "caps": caps,
        "alerts": [{"usd": amount, "passed": passed} for amount, passed in budget.alerts],
        "unsettled": {"calls": len(budget.unsettled), "usd": budget.held.usd, "tokens": budget.held.tokens},
        "torn": budget.torn,
    }


def status_data(where: Where) -> dict[str, Any]:
    """`agentctl status --json`."""
    return {
        "items": {state.value: where.counts.get(state, 0) for state in (State.OPEN, State.DONE, State.BLOCKED, State.DROPPED)},
        "next": where.following.id if where.following else None,
        "letter": str(where.letter[0].step) if where.letter else None,
        "running": where.running,
        "heartbeat": _life_data(where.life) if where.life else None,
        "paused": list(where.paused),
        "spent": usage_data(where.spent),
        "sandbox": where.sandbox or None,
        **budget_data(where.budget),
    }


def _life_data(life: Life) -> dict[str, Any]:
    pulse = life.pulse
    return {
        "pid": pulse.pid,
        "state": life.alive.value,
        "why": life.why,
        "step": pulse.step,
        "item": pulse.item,
        "phase": pulse.phase,
        "doing": pulse.doing,
        "since": time_text(pulse.since),
        "due": time_text(pulse.due),
        "calls": pulse.calls,
        "last_call": time_text(pulse.called) if pulse.called else None,
        "usd": pulse.usd,
        "told": time_text(pulse.told),
    }


def todo_data(rows: list[Row], attempts: Counter[str]) -> list[dict[str, Any]]:
    """`agentctl todo --json`; `attempts` as `History` has them."""
    return [
        {
            "id": row.item.id,
            "title": row.item.title,
            "state": row.standing.state.value,
            "order": row.item.order,
            "after": list(row.item.after),
            "checks": list(row.item.checks),
            "attempts": attempts[row.item.id],
        }
        for row in rows
    ]


def log_data(lines: list[Line]) -> list[dict[str, Any]]:
    """`agentctl log --json`, newest first; `undone_by` is the commit that took the step back, "" where no commit tells it."""
    return [
        {
            "step": str(line.record.name.step),
            "item": line.record.name.item,
            "outcome": line.record.name.outcome.value,
            "commit": line.record.commit,
            "undone_by": (line.record.undone_by.id if line.record.undone_by else "") if line.record.undone else None,
            "usd": line.usage.usd if line.usage else None,
        }
        for line in lines
    ]


def context_data(brief: Brief) -> dict[str, Any]:
    """`agentctl context --json`."""
    parts = [{"name": part.name, "tokens": part.tokens, "cut": part.cut} for part in brief.parts]
    return {"text": brief.text, "tokens": brief.tokens, "parts": parts}


def cost_data(cost: Cost) -> dict[str, Any]:
    """`agentctl cost --json`."""
    return {
        "total": usage_data(cost.total),
        "days": {key: usage_data(usage) for key, usage in cost.days.items()},
        "items": {key: usage_data(usage) for key, usage in cost.items.items()},
        "models": {key: usage_data(usage) for key, usage in cost.models.items()},
        **budget_data(cost.budget),
    }


def step_data(result: StepResult) -> dict[str, Any]:
    """`agentctl step --json`."""
    return {
        "step": str(result.name.step),
        "item": result.item.id,
        "outcome": result.name.outcome.value,
        "commit": result.commit,
        "exit": int(result.exit),
        "attempt": result.attempt,
        "spent": usage_data(result.note.spent) if result.note.spent else None,
    }


def run_data(result: RunResult) -> dict[str, Any]:
    """`agentctl run --json`, printed once at its end."""
    return {
        "steps": [step_data(step) for step in result.steps],
        "why": result.why,
        "exit": int(result.exit),
        "spent": usage_data(result.spent),
        "until": f"{result.until:%Y-%m-%dT%H:%M:%SZ}" if result.until else None,
    }
