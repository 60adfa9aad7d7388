"""pytest and unittest, as their own terminal reporters write."""

from __future__ import annotations

import re

from agent.gate.formats.protocol import Counts, Runner, number

_PYTEST_TOTAL = r"(?m)^(?:=+ )?(\d+ [a-z ]+(?:, \d+ [a-z ]+)*|no tests ran) in \d+\.\d+s\b[^\n]*$"
_PYTEST_HEADER = r"={3,} (.+?) ={3,}"
_PYTEST_TELLING = frozenset({"FAILURES", "ERRORS", "short test summary info"})
_PYTEST_WORDS = frozenset({"passed", "failed", "error", "errors", "skipped", "xfailed", "xpassed", "deselected", "warning", "warnings"})

_UNITTEST_TOTAL = r"(?m)^Ran (\d+) tests? in [\d.]+s\n+(?:OK|FAILED|NO TESTS RAN)(?: \(([^()\n]*)\))?$"
_UNITTEST_FAILURE = r"(?m)^={70}\n(?:FAIL|ERROR|UNEXPECTED SUCCESS): "


def _pytest_counts(text: str) -> list[Counts]:
    totals = [_words(match[1]) for match in re.finditer(_PYTEST_TOTAL, text)]
    return [
        Counts(
            "pytest",
            passed=number(words, "passed"),
            failed=number(words, "failed"),
            errors=number(words, "error", "errors"),
            skipped=number(words, "skipped"),
            xfailed=number(words, "xfailed"),
            xpassed=number(words, "xpassed"),
            deselected=number(words, "deselected"),
        )
        for words in totals
        if not words or not _PYTEST_WORDS.isdisjoint(words)
    ]


def _words(total: str) -> dict[str, int]:
    """`1 failed, 2 passed` by word; empty for `no tests ran`."""
    parts = (part.split(" ", 1) for part in total.split(", ")) if total[0].isdigit() else ()
    return {word: int(count) for count, word in parts}


def _pytest_failing(text: str) -> str:
    kept: list[str] = []
    keep = False
    for line in text.split("\n"):
        header = re.fullmatch(_PYTEST_HEADER, line)
        if header:
            keep = header[1] in _PYTEST_TELLING or (keep and bool(re.match(_PYTEST_TOTAL, line)))
        if keep:
            kept.append(line)
    return "\n".join(kept)


def _unittest_counts(text: str) -> list[Counts]:
    return [_unittest_total(int(match[1]), match[2] or "") for match in re.finditer(_UNITTEST_TOTAL, text)]


def _unittest_total(ran: int, details: str) -> Counts:
    words = {name: int(count) for name, count in re.findall(r"([a-z ]+)=(\d+)", details.replace(", ", ","))}
    failed, errors, skipped = (number(words, name) for name in ("failures", "errors", "skipped"))
    xfailed, xpassed = number(words, "expected failures"), number(words, "unexpected successes")
    # A class whose set-up failed is an error without a test that ran.
    passed = max(0, ran - failed - errors - skipped - xfailed - xpassed)
    return Counts("unittest", passed=passed, failed=failed, errors=errors, skipped=skipped, xfailed=xfailed, xpassed=xpassed)


def _unittest_failing(text: str) -> str:
    first = re.search(_UNITTEST_FAILURE, text)
    return text[first.start() :] if first else ""


RUNNERS = (Runner("pytest", _pytest_counts, _pytest_failing), Runner("unittest", _unittest_counts, _unittest_failing))
