"""Running the checks: each command by the shell, in the repository, confined as the worker is."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from msgspec.structs import replace

from agent.domain.events import CheckBegan, CheckEnded, Listener
from agent.domain.output import fold_output
from agent.domain.redact import redact
from agent.domain.shellwords import shell_words
from agent.domain.text import one_line
from agent.gate.protocol import CheckResult
from agent.gate.reports import stamps, written
from agent.gate.runners import failing_part, nothing_ran, summary, tally
from agent.worker.shell import Completed, Shell

_RED_OUTPUT = 6_000
_GREEN_OUTPUT = 1_000
_NOT_EXECUTABLE, _NOT_FOUND = 126, 127
_NAME_WIDTH = 60
_NO_MODULE = re.compile(r"^\S*python\S*: No module named ([\w.]+)$", re.MULTILINE)


def run_checks(commands: Sequence[str], *, shell: Shell, timeout: float, listen: Listener) -> tuple[CheckResult, ...]:
    """Run `commands` in `shell`, in order, at most `timeout` seconds each, and tell `listen` of each as it begins and ends.

    A red check is run once more: only what is red twice is red. It doesn't keep the next ones from running, so that all
    that is wrong is known at once; after one that timed out or whose program is missing the rest are left out. A check
    that started a test runner without a single test having run is red. Raises AgentctlError where no process can be started.
    """
    results: list[CheckResult] = []
    for command in commands:
        result, ended = _once(command, shell, timeout, listen)
        if not result.ok and ended and not result.missing:
            result = _on_second_try(result, _once(command, shell, timeout, listen)[0])
        results.append(result)
        listen(CheckEnded(command, result.ok, result.summary, result.seconds))
        if not ended or result.missing:
            break
    return tuple(results)


def _once(command: str, shell: Shell, timeout: float, listen: Listener) -> tuple[CheckResult, bool]:
    """The check's result, and whether it ended in time."""
    listen(CheckBegan(command, timeout))
    before = stamps(shell.root, command)
    completed = shell.run(command, timeout)
    result = _judge(command, completed, timeout)
    counts = result.tally.counts
    if counts is None or counts.unit:  # what a report counts is tests, and tells their names
        reported = written(shell.root, command, before)
        result = replace(result, tally=reported if reported.counts else result.tally)
    return result, not completed.timed_out


def _on_second_try(first: CheckResult, second: CheckResult) -> CheckResult:
    """The second run of a check that was red: where it is green, its summary says so."""
    seconds = round(first.seconds + second.seconds, 3)
    if not second.ok:
        return replace(second, seconds=seconds)
    return replace(second, summary=f"{second.summary}, passed on the second try (the first said: {first.summary})", seconds=seconds)


def _judge(command: str, completed: Completed, timeout: float) -> CheckResult:
    output, code, seconds = completed.output, completed.code, completed.seconds
    if completed.timed_out:
        told = fold_output(redact(output, os.environ), _RED_OUTPUT)
        return CheckResult(command, ok=False, summary=f"timed out after {timeout:g} s", output=told, seconds=seconds)
    absent = _missing_program(command, code, output)
    if absent:
        said = f"{one_line(absent, _NAME_WIDTH)} can't be run here: it isn't installed, or not executable"
        return CheckResult(command, ok=False, summary=said, output=fold_output(output, _RED_OUTPUT), seconds=seconds, missing=True)
    ok = code == 0 and not nothing_ran(output, code)
    told = redact(output, os.environ)
    shown = fold_output(told, _GREEN_OUTPUT) if ok else failing_part(told, _RED_OUTPUT)
    return CheckResult(command, ok=ok, summary=summary(told, code, seconds), output=shown, seconds=seconds, tally=tally(told))


def _missing_program(command: str, code: int | None, output: str) -> str:
    """The word of `command` that names no program here, or "".

    The shell says so with exit code 126 or 127 and a message of its own; a script in the check that misses a program
    exits so too, but then the message names the script first. Python says it of the module after `-m`.
    """
    if not code:
        return ""
    words = shell_words(command)
    module = _NO_MODULE.search(output)
    if module and "-m" in words and module[1] in words:
        return module[1]
    if code not in {_NOT_EXECUTABLE, _NOT_FOUND}:
        return ""
    said = [line for line in output.splitlines() if re.match(r"(?:\S*/)?\w*sh: ", line)]
    return next((word for word in words if any(f": {word}: " in line for line in said)), "")
