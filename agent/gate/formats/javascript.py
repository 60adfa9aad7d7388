"""jest, vitest, mocha, and node's own runner, in the formats that they use without a terminal."""

from __future__ import annotations

import re

from agent.gate.formats.protocol import Counts, Runner, number

_JEST = re.compile(r"^Tests: +(\d+ [a-z]+(?:, \d+ [a-z]+)*)$", re.MULTILINE)
_JEST_FAILED_SUITES = re.compile(r"^Test Suites: +(\d+) failed", re.MULTILINE)
_VITEST = re.compile(r"^ *Tests  +(?:no tests|(\d+ [a-z ]+(?: \| \d+ [a-z ]+)*) \(\d+\))$", re.MULTILINE)
_VITEST_FAILED_FILES = re.compile(r"^ *Test Files  +(\d+) failed", re.MULTILINE)
_VITEST_FAILURES = re.compile(r"^⎯+ Failed (?:Tests|Suites)", re.MULTILINE)
_MOCHA = re.compile(r"^ +(\d+) passing \([^\n]*\)(?:\n +(\d+) pending)?(?:\n +(\d+) failing)?$", re.MULTILINE)
_MOCHA_FAILURES = re.compile(r"^ +\d+ failing$", re.MULTILINE)
_NODE = re.compile(r"^[#ℹ] (tests|pass|fail|cancelled|skipped|todo) (\d+)$", re.MULTILINE)
_NODE_FAILURES = re.compile(r"^✖ failing tests:$", re.MULTILINE)


def _jest_counts(text: str) -> list[Counts]:
    totals = [_total("jest", match[1].split(", ")) for match in _JEST.finditer(text)]
    return _with_broken_files(totals, sum(int(count) for count in _JEST_FAILED_SUITES.findall(text)))


def _vitest_counts(text: str) -> list[Counts]:
    totals = [_total("vitest", match[1].split(" | ") if match[1] else []) for match in _VITEST.finditer(text)]
    return _with_broken_files(totals, sum(int(count) for count in _VITEST_FAILED_FILES.findall(text)))


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
        for passing, pending, failing in _MOCHA.findall(text)
    ]


def _node_counts(text: str) -> list[Counts]:
    found = [(word, int(count)) for word, count in _NODE.findall(text)]
    words = {word: sum(count for other, count in found if other == word) for word, _ in found}
    if not {"tests", "pass", "fail"} <= words.keys():
        return []
    return [Counts("node", passed=words["pass"], failed=number(words, "fail", "cancelled"), skipped=number(words, "skipped", "todo"))]


def _jest_failing(text: str) -> str:
    first = re.search(r"^ *● ", text, re.MULTILINE)
    if not first or not _JEST.search(text):
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
        if inside or _NODE.match(line):
            kept.append(line)
        inside = inside and stripped != "..." and not stripped.startswith("ok ")
    return "\n".join(kept) if any(line.lstrip().startswith("not ok ") for line in kept) else ""


def _vitest_failing(text: str) -> str:
    return _from(_VITEST_FAILURES, text)


def _mocha_failing(text: str) -> str:
    return _from(_MOCHA_FAILURES, text)


def _from(mark: re.Pattern[str], text: str) -> str:
    first = mark.search(text)
    return text[first.start() :] if first else ""


RUNNERS = (
    Runner("jest", _jest_counts, _jest_failing),
    Runner("vitest", _vitest_counts, _vitest_failing),
    Runner("mocha", _mocha_counts, _mocha_failing),
    Runner("node", _node_counts, _node_failing),
)
