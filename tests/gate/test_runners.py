from __future__ import annotations

import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.gate.runners import failing_part, nothing_ran, summary, tally

OUTPUTS = Path(__file__).parent / "outputs"

LINES = {
    "pytest-red": "1 failed, 1 error, 4 passed, 1 skipped, 1 xfailed, 1 xpassed in 1.2 s",
    "pytest-colours": "1 failed, 1 error, 4 passed, 1 skipped, 1 xfailed, 1 xpassed in 1.2 s",
    "pytest-broken-module": "1 error in 1.2 s",
    "unittest-red": "1 failed, 1 error, 1 passed, 1 skipped, 1 xfailed, 1 xpassed in 1.2 s",
    "unittest-broken-module": "1 error in 1.2 s",
    "jest-red": "1 failed, 2 passed, 2 skipped in 1.2 s",
    "jest-broken-file": "1 error in 1.2 s",
    "vitest-red": "1 failed, 2 passed, 2 skipped in 1.2 s",
    "vitest-broken-file": "1 error in 1.2 s",
    "mocha-red": "1 failed, 1 passed, 2 skipped in 1.2 s",
    "node-tap-red": "1 failed, 1 passed, 2 skipped in 1.2 s",
    "node-spec-red": "1 failed, 1 passed, 2 skipped in 1.2 s",
    "cargo-red": "1 failed, 1 passed, 1 skipped in 1.2 s",
    "nextest-red": "1 failed, 3 passed, 2 skipped in 1.2 s",
    "go-red": "1 package failed in 1.2 s",
    "go-verbose-red": "1 failed, 1 passed, 1 skipped in 1.2 s",
    "go-broken-build": "1 package error in 1.2 s",
    "maven-red": "1 failed, 1 error, 3 passed, 1 skipped in 1.2 s",
    "gradle-red": "1 failed, 3 passed, 1 skipped in 1.2 s",
    "cargo-broken-file": "error: could not compile `rsb` (lib test) due to 1 previous error",
}
GREEN = {
    "pytest-green": "4 passed in 1.2 s",
    "unittest-green": "1 passed in 1.2 s",
    "jest-green": "1 passed in 1.2 s",
    "vitest-green": "1 passed in 1.2 s",
    "mocha-green": "1 passed in 1.2 s",
    "cargo-green": "1 passed in 1.2 s",
    "go-green": "1 package passed in 1.2 s",
    "maven-green": "2 passed in 1.2 s",
    "gradle-green": "1 task passed in 1.2 s",
}
EMPTY = {
    "pytest-deselected": "no tests ran, 9 deselected in 1.2 s",
    "pytest-empty": "no tests ran in 1.2 s",
    "pytest-no-path": "no tests ran in 1.2 s",
    "pytest-skipped": "no tests ran, 1 skipped, 8 deselected in 1.2 s",
    "unittest-empty": "no tests ran in 1.2 s",
    "unittest-skipped": "no tests ran, 1 skipped in 1.2 s",
    "jest-no-path": "no tests ran in 1.2 s",
    "jest-pass-with-none": "no tests ran in 1.2 s",
    "jest-filtered": "no tests ran, 5 skipped in 1.2 s",
    "vitest-pass-with-none": "no tests ran in 1.2 s",
    "vitest-filtered": "no tests ran, 5 skipped in 1.2 s",
    "mocha-empty": "no tests ran in 1.2 s",
    "node-empty": "no tests ran in 1.2 s",
    "cargo-empty": "no tests ran in 1.2 s",
    "cargo-filtered": "no tests ran, 4 deselected in 1.2 s",
    "go-filtered": "no tests ran in 1.2 s",
    "go-no-files": "no tests ran in 1.2 s",
    "maven-empty": "no tests ran in 1.2 s",
    "gradle-empty": "no tests ran in 1.2 s",
}
TOLD = {
    "pytest-red": ("E       AssertionError: assert {'a': 1} == {'a': 2}", "E   RuntimeError: no database", "FAILED tests/test_a.py::test_bad"),
    "pytest-broken-module": ("ModuleNotFoundError: No module named 'nothere'",),
    "unittest-red": ("AssertionError: 5 != 6", "RuntimeError: no database", "UNEXPECTED SUCCESS: test_xp"),
    "jest-red": ("● sum › adds", "Expected: 6"),
    "jest-broken-file": ("Cannot find module 'nothere'",),
    "vitest-red": ("a.test.js > sum > adds", "expected 5 to be 6"),
    "vitest-broken-file": ("Cannot find package 'nothere'",),
    "mocha-red": ("1) sum", "5 !== 6"),
    "node-tap-red": ("not ok 1 - adds", "5 !== 6"),
    "node-spec-red": ("test at a.test.js:3:25", "5 !== 6"),
    "cargo-red": ("---- tests::bad stdout ----", "left: 5"),
    "cargo-broken-file": ("error[E0308]: mismatched types",),
    "go-red": ("--- FAIL: TestBad", "got 5"),
    "go-verbose-red": ("--- FAIL: TestBad", "got 5"),
    "go-broken-build": ('cannot use "x"',),
    "maven-red": ("expected: <6> but was: <5>", "no database", "CartTest.java:9"),
    "gradle-red": ("CartTest > adds() FAILED", "There were failing tests"),
}
NOISE = ("test session starts", "PASS ./b.test.js", "✔ ok", "Running unittests", "=== RUN", "[INFO]", "Task :compileJava")


def read(name: str) -> str:
    return (OUTPUTS / f"{name}.txt").read_text(encoding="utf-8")


def test_every_recorded_output_has_its_expectation() -> None:
    assert {path.stem for path in OUTPUTS.glob("*.txt")} == LINES.keys() | GREEN.keys() | EMPTY.keys()


@pytest.mark.parametrize(("name", "line"), [*LINES.items()])
def test_a_red_run_is_told_in_one_line(name: str, line: str) -> None:
    assert summary(read(name), 1, 1.23) == line
    assert not nothing_ran(read(name), 1)


@pytest.mark.parametrize(("name", "line"), [*GREEN.items()])
def test_a_green_run_is_told_in_one_line(name: str, line: str) -> None:
    assert summary(read(name), 0, 1.23) == line
    assert not nothing_ran(read(name), 0)


@pytest.mark.parametrize(("name", "line"), [*EMPTY.items()])
def test_case_86_a_run_without_a_test_is_known_for_one(name: str, line: str) -> None:
    assert nothing_ran(read(name), 0)
    assert summary(read(name), 0, 1.23) == line


@pytest.mark.parametrize(("name", "told"), [*TOLD.items()])
def test_the_failing_part_says_what_failed_and_nothing_else(name: str, told: tuple[str, ...]) -> None:
    part = failing_part(read(name), 6000)
    assert [text for text in told if text not in part] == []
    assert [text for text in NOISE if text in part] == []


def test_totals_of_several_runs_are_added_up() -> None:
    total = tally(read("pytest-green") + read("jest-red") + read("pytest-green")).counts
    assert total is not None
    assert (total.runner, total.passed, total.failed) == ("pytest, jest", 10, 1)


def test_one_empty_part_of_a_run_does_not_make_the_whole_empty() -> None:
    assert not nothing_ran(read("jest-pass-with-none") + read("pytest-green"), 0)


def test_a_linter_is_no_test_runner_and_its_last_line_is_told() -> None:
    assert not nothing_ran("All checks passed!\n", 0)
    assert summary("a.py\nAll checks passed!\n----\n", 0, 0.3) == "All checks passed!"


def test_silence_is_told_as_the_exit_code() -> None:
    assert summary("", 0, 0.3) == "exit 0 in 0.3 s"
    assert summary("....   [100%]\n", 0, 0.3) == "exit 0 in 0.3 s"


def test_a_wrapper_that_passes_an_error_on_does_not_hide_it() -> None:
    output = "cc -c a.c\na.c:3: error: expected ';'\n1 warning\nmake: *** [Makefile:2: test] Error 1\n"
    assert summary(output, 2, 0.3) == "a.c:3: error: expected ';'"


def test_green_tests_before_a_failing_command_are_not_told_as_a_pass() -> None:
    output = read("pytest-green") + "app.py:3: error: Incompatible types\nFound 1 error in 1 file\n"
    assert summary(output, 1, 1.2) == "4 passed in 1.2 s (exit 1)"
    assert "Incompatible types" in failing_part(output, 6000)


def test_what_failed_after_failing_tests_is_told_too() -> None:
    assert "app.py:3: error" in failing_part(read("pytest-red") + "app.py:3: error: Incompatible types\n", 6000)


def test_a_failing_part_keeps_to_its_budget_and_to_the_last_line() -> None:
    output = "".join(f"E       assert {number} == 0\n" for number in range(9000)) + "1 failed in 3.00s\n"
    part = failing_part(f"=== FAILURES ===\n{output}", 3000)
    assert len(part) <= 3100
    assert part.endswith("1 failed in 3.00s")


@pytest.mark.parametrize("piece", [" 9", " 1 passing (", "a\n\n\n", "\n"])
def test_case_92_the_longest_output_that_is_kept_is_read_in_no_time(piece: str) -> None:
    text = f"a{piece * (1_310_720 // len(piece))}\nb"
    began = time.process_time()
    assert summary(text, 1, 1.0)
    assert time.process_time() - began < 20  # a pattern that backtracks over it takes minutes


PIECES = st.sampled_from([line for path in sorted(OUTPUTS.glob("*.txt")) for line in path.read_text(encoding="utf-8").split("\n")])
TEXTS = st.one_of(st.text(), st.lists(st.one_of(PIECES, st.text(max_size=20)), max_size=30).map("\n".join))


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.one_of(st.none(), st.integers(0, 255)), st.floats(0, 1e6))
def test_no_text_makes_the_reader_of_outputs_raise_or_show_a_control_character(text: str, code: int | None, seconds: float) -> None:
    line = summary(text, code, seconds)
    assert line
    assert len(line) <= 100
    assert not [char for char in line if unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}]
    assert len(failing_part(text, 500)) <= 600
    total = tally(text).counts
    assert total is None or nothing_ran(text, code) == (total.ran == 0)
