"""The whole gate: what can be refused without running anything first, then the checks; and what the worker is told of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from agent.domain.change import AddedLines, Change
from agent.domain.events import Listener
from agent.domain.output import fold_output
from agent.domain.text import one_line
from agent.gate.checks import run_checks
from agent.gate.protect import SizeLimits, findings
from agent.gate.protocol import CheckResult, Verdict
from agent.gate.secrets import secrets

NO_CHANGE = (
    "You finished without having changed a single file of the repository: do what the item asks, "
    "or, if there is nothing to do or something stands in the way, put that to a person as a question."
)

_FEEDBACK = 7_800
_FINDINGS_SHOWN = 12
_OUTPUTS_SHOWN = 3
_LINE = 500


def gate(
    *,
    commands: Sequence[str],
    changes: Sequence[Change],
    added: AddedLines,
    root: Path,
    limits: SizeLimits,
    timeout: float,
    environment: Mapping[str, str],
    listen: Listener,
    red_before: Collection[str] = (),
    allow_no_change: bool = False,
    memory: str = ".agent",
) -> Verdict:
    """Judge the working tree at `root`. The checks (`timeout` seconds each) are run only where nothing was found against the changes.

    `environment` is this process's own: its keys must not appear in `added`. A step without any change is refused unless the
    item allows it (`allow_no_change`), or one of its commands was red on the base commit (`red_before`): then that command
    decides. `memory` is agentctl's own folder, relative to the repository's top. Raises AgentctlError as `run_checks` does.
    """
    refused = [*findings(changes, limits, memory), *secrets(added, environment)]
    if not changes and not allow_no_change and set(commands).isdisjoint(red_before):
        refused.append(NO_CHANGE)
    if refused:
        return Verdict(checks=(), findings=tuple(refused))
    return Verdict(checks=run_checks(commands, root=root, timeout=timeout, listen=listen))


def feedback(verdict: Verdict) -> str:
    """What the worker is told of a red verdict, under 8,000 characters; "" for a green one."""
    if verdict.ok:
        return ""
    red = [check for check in verdict.checks if not check.ok]
    parts = [
        "Your step has not landed: agentctl verified the working tree itself and refused it.",
        *_findings(verdict),
        *_checks(verdict, red),
        "Your changes are still in the working tree. Mend the cause, not the check, and then finish again with the whole note.",
    ]
    return fold_output("\n\n".join(parts), _FEEDBACK)


def _findings(verdict: Verdict) -> list[str]:
    if not verdict.findings:
        return []
    lines = [f"- {one_line(finding, _LINE)}" for finding in verdict.findings[:_FINDINGS_SHOWN]]
    rest = len(verdict.findings) - _FINDINGS_SHOWN
    more = [f"- and {rest} more of this kind"] if rest > 0 else []
    return ["\n".join([*lines, *more]), "" if verdict.checks else "The checks were not run yet; they come once this is mended."]


def _checks(verdict: Verdict, red: Sequence[CheckResult]) -> list[str]:
    outputs = red[:_OUTPUTS_SHOWN]
    room = _FEEDBACK // 4 * 3 // max(1, len(outputs))
    shown = [f"{_line('Failed', check)}\n{_fenced(fold_output(check.output, room))}" for check in outputs]
    others = [_line("Failed", check) for check in red[_OUTPUTS_SHOWN:]] + [_line("Passed", check) for check in verdict.checks if check.ok]
    return [*shown, "\n".join(others[:_FINDINGS_SHOWN])] if others else shown


def _line(word: str, check: CheckResult) -> str:
    return f"{word}: {one_line(check.command, _LINE // 2)}: {one_line(check.summary, _LINE // 2)}"


def _fenced(output: str) -> str:
    if not output:
        return "(It printed nothing.)"
    fence = "```"
    while fence in output:
        fence += "`"
    return f"{fence}\n{output}\n{fence}"
