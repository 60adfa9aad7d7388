"""jest, vitest, mocha, and node's own runner, in the formats that they use without a terminal."""

from __future__ import annotations

import re

from agent.gate.formats.protocol import Counts, Runner, number

_JEST = r"(?m)^Tests: +(\d+ [a-z]+(?:, \d+ [a-z]+)*)$"
_JEST_FAILED_SUITES = r"(?m)^Test Suites: +(\d+) failed"
_VITEST = r"(?m)^ *Tests  +(?:no tests|(\d+ [a-z ]+(?: \| \d+ [a-z ]+)*) \(\d+\))$"
_VITEST_FAILED_FILES = r"(?m)^ *Test Files  +(\d+) failed"
_VITEST_FAILURES = r"(?m)^⎯+ Failed (?:Tests|Suites)"
_MOCHA = r"(?m)^ +(\d+) passing \([^\n]*\)(?:\n +(\d+) pending)?(?:\n +(\d+) failing)?$"
_MOCHA_FAILURES = r"(?m)^ +\d+ failing$"
_NODE = r"(?m)^[#ℹ] (tests|pass|fail|cancelled|skipped|todo) (\d+)$"
_NODE_FAILURES = r"(?m)^✖ failing tests:$"


def _jest_counts(text: str) -> list[Counts]:
    totals = [_total("jest", match[1].split(", ")) for match in re.finditer(_JEST, text)]
    return _with_broken_files(totals, sum(int(count) for count in re.findall(_JEST_FAILED_SUITES, text)))


def _vitest_counts(text: str) -> list[Counts]:
    totals = [_total("vitest", match[1].split(" | ") if match[1] else []) for match in re.finditer(_VITEST, text)]
    return _with_broken_files(totals, sum(int(count) for count in re.findall(_VITEST_FAILED_FILES, text)))


def _total(runner: str, parts: list[str]) -> Counts:
    words = {word: int(count) for count, word in (part.split(" ", 1) for part in parts)}
    return Counts(
        runner,
        passed=number(words, "passed"),
        failed=number(words, "failed"),
        skipped=number(words, "skipped", "pending", "todo"),
        xfailed=number(words, "expected fail"),
    )


def _with_broken_files(totals: list[Counts], failed_files: int) -> list[Counts]:
    """Files that could not be loaded hold no test that failed: they are the errors."""
    if not totals or not failed_files or any(total.failed for total in totals):
        return totals
    return [*totals, Counts(totals[0].runner, errors=failed_files)]


def _mocha_counts(text: str) -> list[Counts]:
    return [
        Counts("mocha", passed=int(passing), skipped=int(pending or 0), failed=int(failing or 0))
        for passing, pending, failing in re.findall(_MOCHA, text)
    ]


def _node_counts(text: str) -> list[Counts]:
    found = [(word, int(count)) for word, count in re.findall(_NODE, text)]
    words = {word: sum(count for other, count in found if other == word) for word, _ in found}
    if not {"tests", "pass", "fail"} <= words.keys():
        return []
    return [Counts("node", passed=words["pass"], failed=number(words, "fail", "cancelled"), skipped=number(words, "skipped", "todo"))]


def _jest_failing(text: str) -> str:
    first = re.search(r"^ *● ", text, re.MULTILINE)
    if not first or not re.search(_JEST, text):
        return ""
    return "\n".join(line for line in text[first.start() :].split("\n") if not line.startswith("PASS "))


def _node_failing(text: str) -> str:
    return _from(_NODE_FAILURES, text) or _tap_failures(text)


def _tap_failures(text: str) -> str:
    """TAP's `not ok` lines with the block of details below each."""
    kept: list[str] = []
    inside = False
    for line in text.split("\n"):
        stripped = line.strip()
        inside = inside or stripped.startswith("not ok ")
        if inside or re.match(_NODE, line):
            kept.append(line)
        inside = inside and stripped != "..." and not stripped.startswith("ok ")
    return "\n".join(kept) if any(line.lstrip().startswith("not ok ") for line in kept) else ""


def _vitest_failing(text: str) -> str:
    return _from(_VITEST_FAILURES, text)


def _mocha_failing(text: str) -> str:
    return _from(_MOCHA_FAILURES, text)


def _from(mark: str, text: str) -> str:
    first = re.search(mark, text)
    return text[first.start() :] if first else ""


RUNNERS = (
    Runner("jest", _jest_counts, _jest_failing),
    Runner("vitest", _vitest_counts, _vitest_failing),
    Runner("mocha", _mocha_counts, _mocha_failing),
    Runner("node", _node_counts, _node_failing),
)
