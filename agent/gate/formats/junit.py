"""JUnit's XML reports, as pytest, Maven, Gradle, jest-junit, gotestsum and nextest write them."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from agent.gate.formats.protocol import Counts, Tally

_OUTCOMES = {"failure": "failed", "error": "errors", "skipped": "skipped"}
_DECLARES = (b"<!DOCTYPE", b"<!ENTITY", b"<\0!\0", b"\0<\0!")  # no report has any; it is how XML eats memory


def read_junit(reports: Sequence[bytes]) -> Tally:
    """The sum of `reports`; without counts where none of them is one."""
    cases = [case for report in reports for case in _cases(report)]
    if not cases:
        return Tally()
    outcomes = [outcome for _, outcome in cases]
    counts = Counts("junit", outcomes.count("passed"), outcomes.count("failed"), outcomes.count("errors"), outcomes.count("skipped"))
    passed = tuple(sorted(name for name, outcome in cases if outcome == "passed"))
    failed = tuple(sorted(name for name, outcome in cases if outcome in {"failed", "errors"}))
    return Tally.of(counts, passed, failed)


def _cases(report: bytes) -> list[tuple[str, str]]:
    """The name and the outcome of each test."""
    if any(mark in report for mark in _DECLARES):
        return []
    try:
        root = ET.fromstring(report)  # noqa: S314 - without declarations there is nothing in it that could expand
    except (ET.ParseError, ValueError, LookupError):
        return []
    return [(_name(case), next((_OUTCOMES[part.tag] for part in case if part.tag in _OUTCOMES), "passed")) for case in root.iter("testcase")]


def _name(case: ET.Element) -> str:
    return "::".join(part for part in (case.get("classname", ""), case.get("name", "")) if part)
