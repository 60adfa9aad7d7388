"""The table of docs/cases.md: `python -m tests.cases.table` writes it, a test holds that it is current."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.cases.reports import REPORTS, Report

TOP = Path(__file__).parent.parent.parent
PAGE = TOP / "docs" / "cases.md"

_KINDS = {
    "a": "Git situations",
    "b": "Applying edits",
    "c": "The list and the notes",
    "d": "Models, claims, commands",
    "e": "Resume and undo",
    "f": "Environment",
}
_TEST = re.compile(r"def test_case_(\d+(?:_and_\d+)*)_")
_INTRO = """# What went wrong elsewhere, and what agentctl does

Made from `tests/cases/reports.py` by `python -m tests.cases.table`. Each row is a public report about a tool that edits and commits
(the number leads to it), told in our words. A test of it is called `test_case_NUMBER_…`, in the files named last.
"""


@dataclass(frozen=True)
class Held:
    """A report with the files whose tests hold what is said of agentctl, relative to `tests/`."""

    report: Report
    files: tuple[str, ...]


def files_by_number() -> dict[int, tuple[str, ...]]:
    """For each number the files with tests of it."""
    found: dict[int, dict[str, None]] = {}
    for file in sorted(TOP.glob("tests/**/test_*.py")):
        for match in _TEST.finditer(file.read_text("utf-8")):
            for number in match[1].split("_and_"):
                found.setdefault(int(number), {})[file.relative_to(TOP / "tests").as_posix()] = None
    return {number: tuple(files) for number, files in found.items()}


def held() -> list[Held]:
    """All reports, by number."""
    tests = files_by_number()
    return [Held(report, tuple(dict.fromkeys([*report.also, *tests.get(report.number, ())]))) for report in REPORTS]


def page() -> str:
    """The text of docs/cases.md."""
    return "\n".join([_INTRO, *_sections()])


def _sections() -> Iterator[str]:
    rows = held()
    for kind, heading in _KINDS.items():
        yield f"## {heading}\n\n| | elsewhere | agentctl | tests |\n|---|---|---|---|"
        yield from (_row(one) for one in rows if one.report.kind == kind)
        yield ""


def _row(one: Held) -> str:
    report = one.report
    files = "<br>".join(f"[{name}](../tests/{name})" for name in one.files) or "none"
    cells = (f"[{report.number}](https://github.com/{report.source})", report.elsewhere, report.here, files)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') if place in (1, 2) else cell for place, cell in enumerate(cells))} |"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
