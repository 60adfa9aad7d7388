"""Maven Surefire (and what else prints JUnit's `Tests run:`), and Gradle."""

from __future__ import annotations

import re

from agent.gate.formats.protocol import Counts, Runner

_MAVEN = r"(?m)^(?:\[\w+\] +)?Tests run: (\d+), +Failures: (\d+)(?:, +Errors: (\d+))?(?:, +Skipped: (\d+))?([^\n]*)$"
_MAVEN_NONE = r"(?m)^(?:\[\w+\] +)?No tests (?:to run\.|were executed!)"
_MAVEN_NOISE = r"\[(?:INFO|WARNING)\]|\[ERROR\] *$|\[ERROR\] (?:To see the full|Re-run Maven|For more information|\[Help|-> \[Help)"
_GRADLE_TOTAL = r"(?m)^(\d+) tests? completed(?:, (\d+) failed)?(?:, (\d+) skipped)?$"
_GRADLE_TASK = r"(?m)^> Task (?:\S*:)?(\w*[tT]est)(?: ([A-Z-]+))?$"
_GRADLE_FAILURE = r"(?m)^\S.* > .* FAILED$|^\* What went wrong:$"


def _maven_counts(text: str) -> list[Counts]:
    found = re.findall(_MAVEN, text)
    # A class's own line tells its time; the totals that follow (one for each module) don't.
    totals = [line for line in found if "Time elapsed" not in line[4]] or found
    counts = [_maven_total(*(int(count or 0) for count in line[:4])) for line in totals]
    return counts or [Counts("maven") for _ in re.findall(_MAVEN_NONE, text)]


def _maven_total(ran: int, failed: int, errors: int, skipped: int) -> Counts:
    return Counts("maven", passed=max(0, ran - failed - errors - skipped), failed=failed, errors=errors, skipped=skipped)


def _maven_failing(text: str) -> str:
    lines = text.split("\n")
    first = next((place for place, line in enumerate(lines) if line.startswith("[ERROR]")), None)
    if first is None:
        return ""
    return "\n".join(line for line in lines[first:] if not re.match(_MAVEN_NOISE, line))


def _gradle_counts(text: str) -> list[Counts]:
    totals = [tuple(int(count or 0) for count in match) for match in re.findall(_GRADLE_TOTAL, text)]
    counts = [Counts("gradle", passed=max(0, ran - failed - skipped), failed=failed, skipped=skipped) for ran, failed, skipped in totals]
    # A green run prints no number, only that the task ran; one without tests says NO-SOURCE.
    tasks = re.findall(_GRADLE_TASK, text)
    if counts or not tasks:
        return counts
    passed = sum(1 for _, outcome in tasks if outcome in {"", "UP-TO-DATE", "FROM-CACHE"})
    errors = sum(1 for _, outcome in tasks if outcome == "FAILED")
    return [Counts("gradle", passed=passed, errors=errors, unit="task")]


def _gradle_failing(text: str) -> str:
    first = re.search(_GRADLE_FAILURE, text)
    return text[first.start() :].split("\n* Try:\n", 1)[0] if first else ""


RUNNERS = (Runner("maven", _maven_counts, _maven_failing), Runner("gradle", _gradle_counts, _gradle_failing))
