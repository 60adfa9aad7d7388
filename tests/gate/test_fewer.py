from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agent.domain.events import ignore
from agent.gate.checks import run_checks
from agent.gate.fewer import fewer_tests, not_redder, redder
from agent.gate.formats.junit import read_junit
from agent.gate.formats.protocol import UNTOLD, Counts, Tally
from agent.gate.protocol import Baseline, CheckResult
from agent.gate.runners import tally
from tests.shells import bare_shell

OUTPUTS = Path(__file__).parent / "outputs"


def told(before: Tally, now: Tally, *, ok: bool = True) -> str:
    result = CheckResult("check", ok, "", "", 1.0, tally=now)
    return " ".join(one.text for one in fewer_tests([result], {"check": Baseline(ok=True, tally=before)}))


@pytest.mark.parametrize(
    ("before", "now", "says"),
    [
        (Counts("pytest", passed=12), Counts("pytest", passed=11), "12 → 11 collected, 12 → 11 passed"),
        (Counts("pytest", passed=12), Counts("pytest", passed=11, skipped=1), "12 → 11 passed, 0 → 1 skipped"),
        (Counts("pytest", passed=12), Counts("pytest", passed=12, skipped=1), "0 → 1 skipped"),
        (Counts("pytest", passed=12), Counts("pytest", passed=11, deselected=1), "12 → 11 passed, 0 → 1 deselected"),
        (Counts("pytest", passed=12), Counts("pytest", passed=11, xfailed=1), "12 → 11 passed, 0 → 1 expected to fail"),
        (Counts("go", passed=3, unit="package"), Counts("go", passed=2, unit="package"), "3 → 2 packages collected, 3 → 2 packages passed"),
        (Counts("jest", passed=3), None, "it told of 3 tests, and tells nothing of them now"),
        (Counts("go", passed=3), Counts("go", passed=3, unit="package"), "it told of 3 tests, and tells nothing of them now"),
    ],
)
def test_fewer_collected_or_passed_or_more_skipped_is_told_from_how_many_to_how_many(before: Counts, now: Counts | None, says: str) -> None:
    assert told(Tally(before), Tally(now)) == f"`check` sees less than before the step: {says}."


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (Counts("pytest", passed=12), Counts("pytest", passed=12)),
        (Counts("pytest", passed=12, skipped=2), Counts("pytest", passed=14)),
        (Counts("pytest", failed=3, passed=9), Counts("pytest", passed=12)),
        (Counts("unittest", passed=3), Counts("pytest", passed=3)),
        (None, Counts("pytest", passed=1)),
        (None, None),
    ],
)
def test_as_many_tests_as_before_or_more_are_no_objection(before: Counts | None, now: Counts | None) -> None:
    assert told(Tally(before), Tally(now)) == ""


def test_a_check_that_is_new_or_was_never_run_can_not_have_less() -> None:
    assert fewer_tests([CheckResult("check", True, "", "", 1.0)], {}) == ()  # noqa: FBT003 - the outcome


def test_names_are_told_where_both_sides_gave_all_of_them() -> None:
    before = Tally.of(Counts("pytest", passed=3), ("a", "b", "c"), ())
    assert told(before, Tally.of(Counts("pytest", passed=1), ("b",), ())).endswith(" (no longer passing: a, c).")
    assert "no longer" not in told(before, Tally.of(Counts("pytest", passed=2), ("b",), ()))


RED = Tally.of(Counts("pytest", passed=5, failed=2), (), ("x", "y"))


@pytest.mark.parametrize(
    ("now", "holds"),
    [
        (Tally.of(Counts("pytest", passed=6, failed=1), (), ("y",)), True),
        (RED, True),
        (Tally.of(Counts("pytest", passed=4, failed=3), (), ("x", "y", "z")), False),
        (Tally.of(Counts("pytest", passed=5, failed=2), (), ("x", "z")), False),
        (Tally(Counts("pytest")), False),
        (UNTOLD, False),
    ],
)
def test_a_red_check_got_no_redder_only_where_it_tells_so(now: Tally, *, holds: bool) -> None:
    result = CheckResult("check", ok=False, summary="", output="", seconds=1.0, tally=now)
    assert not_redder(result, Baseline(ok=False, tally=RED)) is holds
    assert not not_redder(result, Baseline(ok=True, tally=RED))
    assert not not_redder(result, None)


def test_a_check_that_was_red_is_named_as_such_with_what_failed_then_and_now() -> None:
    result = CheckResult("check", ok=False, summary="", output="", seconds=1.0, tally=Tally(Counts("pytest", failed=3)))
    assert redder(result, Baseline(ok=False, tally=RED)) == "was red before: 2 failed, now 3"
    assert redder(result, Baseline(ok=False)) == "was red before"
    assert redder(result, Baseline(ok=True)) == ""


NAMES = {
    "pytest-red": ((), ("tests/test_a.py::test_bad", "tests/test_a.py::test_err")),
    "unittest-red": ((), ("test_bad (tests.test_a.T.test_bad)", "test_err (tests.test_a.T.test_err)")),
    "go-verbose-red": (("TestOK",), ("TestBad",)),
    "cargo-red": (("tests::ok",), ("tests::bad",)),
    "mocha-red": (("ok",), ()),
    "jest-red": ((), ()),
}


@pytest.mark.parametrize("output", NAMES)
def test_names_are_read_where_a_runner_tells_all_of_them(output: str) -> None:
    read = tally((OUTPUTS / f"{output}.txt").read_text("utf-8"))
    assert (read.passed, read.failed) == NAMES[output]


def test_verbose_names_are_read() -> None:
    text = "tests/test_a.py::test_a PASSED    [ 50%]\ntests/test_a.py::test_b[x y] PASSED [100%]\n\n====== 2 passed in 0.10s ======\n"
    assert tally(text).passed == ("tests/test_a.py::test_a", "tests/test_a.py::test_b[x y]")
    text = "test_a (t.T.test_a) ... ok\ntest_b (t.T.test_b)\nWhat it is. ... ok\n\n---\nRan 2 tests in 0.000s\n\nOK\n"
    assert tally(text).passed == ("test_a (t.T.test_a)", "test_b (t.T.test_b)")


JUNIT = """<?xml version="1.0"?><testsuites><testsuite tests="4"><testcase classname="t" name="a"/><testcase classname="t" name="b"><failure/></testcase>
<testcase name="c"><skipped/></testcase><testcase name="d"><error>x</error></testcase></testsuite></testsuites>"""


def test_a_junit_report_is_counted_and_named() -> None:
    assert read_junit([JUNIT.encode()]) == Tally(Counts("junit", 1, 1, 1, 1), ("t::a",), ("d", "t::b"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<a>",
        "<html/>",
        '<!DOCTYPE a [<!ENTITY b "c">]><testsuite><testcase name="&b;"/></testsuite>',
        "\0",
        '<?xml version="1.0" encoding="no"?><a/>',
    ],
)
def test_what_is_no_report_tells_nothing(text: str) -> None:
    assert read_junit([text.encode(), text.encode("utf-16")]) == UNTOLD


def test_a_report_that_a_quiet_check_writes_is_counted_and_one_from_before_is_not(tmp_path: Path) -> None:
    (tmp_path / "write.py").write_text(f"open('out.xml', 'w').write('''{JUNIT.replace('<failure/>', '').replace('<error>x</error>', '')}''')")
    (tmp_path / "old.xml").write_text(JUNIT)
    write, read = run_checks(
        [f"{sys.executable} write.py --junitxml=out.xml", "test -e old.xml"], shell=bare_shell(tmp_path), timeout=20, listen=ignore
    )
    assert write.tally.counts == Counts("junit", passed=3, skipped=1)
    assert read.tally == UNTOLD


def test_a_red_check_is_run_once_more_and_a_pass_is_told(tmp_path: Path) -> None:
    (flaky, red) = run_checks(
        ["test -e second || { touch second; echo 1 broken; exit 1; }", "echo x >> runs; false"], shell=bare_shell(tmp_path), timeout=20, listen=ignore
    )
    assert flaky.ok
    assert flaky.summary.endswith(", passed on the second try (the first said: 1 broken)")
    assert not red.ok
    assert (tmp_path / "runs").read_text() == "x\nx\n"


def test_what_took_too_long_or_is_missing_is_not_run_again(tmp_path: Path) -> None:
    run_checks(["echo x >> runs; sleep 30"], shell=bare_shell(tmp_path), timeout=0.4, listen=ignore)
    run_checks(["echo x >> runs; no-such-program"], shell=bare_shell(tmp_path), timeout=20, listen=ignore)
    assert (tmp_path / "runs").read_text() == "x\nx\n"
