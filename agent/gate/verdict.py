"""The whole gate: what can be refused without running anything first, then the checks; and what the worker is told of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from agent.domain.allow import NO_CHANGE, STILL_RED
from agent.domain.change import AddedLines, Change
from agent.domain.events import Listener
from agent.domain.output import fold_output
from agent.domain.text import one_line
from agent.domain.todo import Item
from agent.gate.checks import run_checks
from agent.gate.fewer import fewer_tests, not_redder, redder
from agent.gate.protect import SizeLimits, findings
from agent.gate.protocol import Baseline, CheckResult, Objection, Verdict, sorted_out
from agent.gate.secrets import secrets, secrets_told
from agent.gate.settled import NOTHING_SETTLED, Settled, settled
from agent.gate.unseen import unseen
from agent.gate.weakened.compare import weakened
from agent.gate.weakened.protocol import Sides
from agent.worker.shell import Shell

UNCHANGED = Objection(
    "You finished without having changed a single file of the repository: do what the item asks, "
    "or, if there is nothing to do or something stands in the way, put that to a person as a question.",
    NO_CHANGE,
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
    sides: Sequence[Sides],
    item: Item,
    shell: Shell,
    limits: SizeLimits,
    timeout: float,
    environment: Mapping[str, str],
    listen: Listener,
    before: Mapping[str, Baseline] = MappingProxyType({}),
    texts: Sequence[tuple[str, str]] = (),
    known: Settled = NOTHING_SETTLED,
    memory: str = ".agent",
) -> Verdict:
    """Judge the working tree in which `shell` runs the checks. The checks (`timeout` seconds each) are run only where nothing was found against the changes.

    `environment` is this process's own: its keys must not appear in `added`, nor in `texts`, what the worker wrote beside code. `before` is what the checks said of the base
    commit: they may not count fewer tests now. A step without any change is refused unless one of its commands was red
    there and is green now. `sides` are the texts of files that can weaken tests, `known` the scripts that only a person changes. What `item` allows (agent/domain/allow.py) is let through and told.
    `memory` is agentctl's own folder, relative to the repository's top. Raises AgentctlError as `run_checks` does.
    """
    idle = not changes and NO_CHANGE not in item.allow
    was_red = {command for command in commands if command in before and not before[command].ok}
    held = settled(changes, added, known)
    names = [("the names of new files", "\n\n".join(change.path for change in changes if change.kind == "added"))]
    telling = [*secrets(added, environment), *secrets_told([*texts, *names], environment)]
    refused, allowed = sorted_out([*telling, *unseen(changes, added), *held, *weakened(sides, commands, item)], item.allow)
    refused = (*findings(changes, limits, memory), *refused, *([UNCHANGED.told] if idle and not was_red else []))
    if refused:
        return Verdict((), refused, allowed)
    checks = run_checks(commands, shell=shell, timeout=timeout, listen=listen)
    spared = frozenset(check.command for check in checks if STILL_RED in item.allow and not_redder(check, before.get(check.command)))
    refused, fewer = sorted_out(fewer_tests([check for check in checks if check.ok or check.command in spared], before), item.allow)
    if idle and not any(check.ok for check in checks if check.command in was_red):
        refused = (*refused, UNCHANGED.told)
    return Verdict(checks, refused, (*allowed, *fewer), spared)


def feedback(verdict: Verdict, before: Mapping[str, Baseline] = MappingProxyType({})) -> str:
    """What the worker is told of a red verdict, under 8,000 characters; "" for a green one. A check that was red `before` is told as such."""
    if verdict.ok:
        return ""
    parts = [
        "Your step has not landed: agentctl verified the working tree itself and refused it.",
        *_findings(verdict),
        *_checks(verdict, before),
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


def _checks(verdict: Verdict, before: Mapping[str, Baseline]) -> list[str]:
    outputs, others = verdict.red[:_OUTPUTS_SHOWN], verdict.red[_OUTPUTS_SHOWN:]
    room = _FEEDBACK // 4 * 3 // max(1, len(outputs))
    shown = [f"{_red_line(check, before)}\n{_fenced(fold_output(check.output, room))}" for check in outputs]
    lines = [_red_line(check, before) for check in others] + [_line("Passed", check) for check in verdict.checks if check.ok]
    return [*shown, "\n".join(lines[:_FINDINGS_SHOWN])] if lines else shown


def _red_line(check: CheckResult, before: Mapping[str, Baseline]) -> str:
    then = redder(check, before.get(check.command))
    return _line("Failed", check) + (f" ({then})" if then else "")


def _line(word: str, check: CheckResult) -> str:
    return f"{word}: {one_line(check.command, _LINE // 2)}: {one_line(check.summary, _LINE // 2)}"


def _fenced(output: str) -> str:
    if not output:
        return "(It printed nothing.)"
    fence = "```"
    while fence in output:
        fence += "`"
    return f"{fence}\n{output}\n{fence}"
