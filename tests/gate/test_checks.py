from __future__ import annotations

import shlex
import shutil
import sys
import time
from pathlib import Path

import pytest

from agent.domain.events import CheckEnded, Event, ignore
from agent.gate.checks import run_checks
from agent.gate.protocol import CheckResult
from tests.shells import bare_shell

PYTHON = shlex.quote(sys.executable)


def run(root: Path, *commands: str, timeout: float = 30) -> tuple[CheckResult, ...]:
    return run_checks(commands, shell=bare_shell(root), timeout=timeout, listen=ignore)


def one(root: Path, command: str, timeout: float = 30) -> CheckResult:
    (result,) = run(root, command, timeout=timeout)
    return result


def test_real_pytest_is_run_and_counted(tmp_path: Path) -> None:
    (tmp_path / "test_sum.py").write_text("def test_good(): pass\ndef test_bad():\n    assert 2 + 3 == 6\n")
    result = one(tmp_path, f"{PYTHON} -m pytest -q -p no:cacheprovider")
    assert (result.ok, result.missing) == (False, False)
    assert result.summary.startswith("1 failed, 1 passed in ")
    assert "assert (2 + 3) == 6" in result.output


@pytest.mark.parametrize("options", ["-q", "-qq"])
def test_case_86_real_pytest_without_a_test_is_red(tmp_path: Path, options: str) -> None:
    (tmp_path / "empty").mkdir()
    result = one(tmp_path, f"{PYTHON} -m pytest {options} -p no:cacheprovider empty")
    assert not result.ok
    assert result.summary.startswith("no tests ran in ")


def test_case_86_real_unittest_without_a_test_is_red_though_it_exits_0(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = one(tmp_path, f"{PYTHON} -m unittest discover -s empty")
    assert not result.ok
    assert result.summary.startswith("no tests ran in ")


@pytest.mark.skipif(not shutil.which("node"), reason="no node here")
def test_real_node_is_counted_and_its_failure_told(tmp_path: Path) -> None:
    (tmp_path / "sum.test.js").write_text(
        "const {test} = require('node:test'); const assert = require('assert');\ntest('adds', () => assert.equal(5, 6));\n"
    )
    result = one(tmp_path, "node --test")
    assert result.summary.startswith("1 failed in ")
    assert "adds" in result.output


@pytest.mark.parametrize(
    "command",
    ["pytst -q", "cd . && pytst -q", "CI=1 pytst", "./pytst", f"{PYTHON} -m pytst -q", "sh -c 'exit 0'; pytst"],
    ids=lambda command: command[-20:],
)
def test_case_86_a_missing_program_is_told_apart_and_named(tmp_path: Path, command: str) -> None:
    result = one(tmp_path, command)
    assert (result.ok, result.missing) == (False, True)
    assert "pytst" in result.summary


def test_a_file_that_is_not_executable_counts_as_missing(tmp_path: Path) -> None:
    (tmp_path / "check.sh").write_text("exit 0\n")
    result = one(tmp_path, "./check.sh")
    assert result.missing
    assert "./check.sh" in result.summary


def test_a_program_missing_inside_a_check_is_failing_work(tmp_path: Path) -> None:
    (tmp_path / "check.sh").write_text("no-such-program\n")
    result = one(tmp_path, "sh check.sh")
    assert (result.ok, result.missing) == (False, False)
    assert "no-such-program" in result.summary


def test_case_88_a_check_that_asks_gets_no_answer_instead_of_waiting(tmp_path: Path) -> None:
    began = time.monotonic()
    result = one(tmp_path, "read -r answer; printf y > /dev/tty")
    assert not result.ok
    assert time.monotonic() - began < 10


def test_case_91_a_check_that_hangs_is_red_with_what_it_had_said(tmp_path: Path) -> None:
    result = one(tmp_path, "echo started; (sh -c 'sleep 311 & sleep 312')", timeout=0.5)
    assert (result.ok, result.missing, result.summary) == (False, False, "timed out after 0.5 s")
    assert "started" in result.output


def test_case_92_megabytes_of_progress_are_folded_to_the_line_that_counts(tmp_path: Path) -> None:
    (tmp_path / "noise.py").write_text(
        "import sys\n"
        "for i in range(60000): sys.stdout.write('\\r\\x1b[32m%5d%%|####      | it/s\\x1b[0m' % i)\n"
        "print(); print('LAST LINE: 1 failed'); sys.exit(1)\n"
    )
    result = one(tmp_path, f"{PYTHON} noise.py")
    assert result.summary == "LAST LINE: 1 failed"
    assert "LAST LINE: 1 failed" in result.output
    assert len(result.output) < 7000
    assert "\x1b" not in result.output


def test_keys_are_not_there_for_a_check_to_see(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-for-checks")
    assert "not-for-checks" not in one(tmp_path, "env; exit 1").output


def test_all_checks_run_and_each_is_told_as_it_ends(tmp_path: Path) -> None:
    told: list[Event] = []
    results = run_checks(["echo fine", "echo broken; exit 3", "true"], shell=bare_shell(tmp_path), timeout=30, listen=told.append)
    assert [(result.ok, result.summary.split(" in ")[0]) for result in results] == [(True, "fine"), (False, "broken"), (True, "exit 0")]
    assert [event for event in told if isinstance(event, CheckEnded)] == [
        CheckEnded(result.command, result.ok, result.summary, result.seconds) for result in results
    ]


@pytest.mark.parametrize("first", ["sleep 60", "pytst"])
def test_after_a_time_out_or_a_missing_program_the_rest_is_left_out(tmp_path: Path, first: str) -> None:
    assert [result.command for result in run(tmp_path, first, "touch ran", timeout=0.3)] == [first]
    assert not (tmp_path / "ran").exists()
