"""The table of cases is whole and current."""

from __future__ import annotations

from tests.cases.table import PAGE, TOP, files_by_number, held, page


def test_the_page_of_cases_is_current() -> None:
    assert PAGE.read_text("utf-8") == page(), "run: python -m tests.cases.table"


def test_every_case_has_a_test_and_every_test_a_case() -> None:
    rows = held()
    assert [one.report.number for one in rows if not one.files] == []
    assert set(files_by_number()) <= {one.report.number for one in rows}
    assert [name for one in rows for name in one.files if not (TOP / "tests" / name).exists()] == []
