"""A step may not see fewer tests than the commit it began from, nor make a red check redder; through real steps with a real runner."""

from __future__ import annotations

import sys

import pytest

from tests.project import ADDS, CHECK, Project, call, edit, finish, reply

ITEM = "make-add-add"
TESTS = """import unittest
import calc


class T(unittest.TestCase):
    def test_floats(self):
        self.assertEqual(calc.add(0.0, 0.0), 0)

    def test_zero(self):
        self.assertEqual(calc.add(0, 0), 0)

    def test_two(self):
        self.assertEqual(calc.add(2, 0), 2)
"""
UNIT = f"{sys.executable} -B -m unittest -v test_calc"


@pytest.fixture
def tested(project: Project) -> Project:
    project.write("test_calc.py", TESTS)
    project.write(".agent/config.yaml", f"checks:\n  - {UNIT}\n")
    project.commit("Tests, green but for what they don't ask")
    return project


def test_a_test_that_is_gone_from_the_count_fails_the_step_and_is_named(tested: Project) -> None:
    tested.items("Make add() add")
    tested.record({ITEM: [[reply(ADDS, edit("test_calc.py", "def test_two", "def two"), finish("All green!"))]]})
    ran = tested.agentctl("step")
    assert ran.code == 4
    note = tested.agentctl("note", ITEM).out
    assert "3 → 2 collected, 3 → 2 passed (no longer passing: test_two (test_calc.T.test_two))" in note
    assert tested.read("test_calc.py") == TESTS
    assert "Only a person may allow it: `allow: [weaker-tests]`" in note


def test_a_person_may_allow_fewer_tests_and_the_note_says_what_was_let_through(tested: Project) -> None:
    tested.agentctl("todo", "add", "Make add() add", "--allow", "weaker-tests")
    tested.record({ITEM: [[reply(ADDS, edit("test_calc.py", "def test_two", "def two"), finish())]]})
    ran = tested.agentctl("step")
    assert ran.code == 0, ran.err
    assert "allowed by weaker-tests:" in tested.git("show", "HEAD")
    assert "3 → 2 passed" in tested.agentctl("note").out


def test_what_landed_is_what_the_next_step_is_held_against(tested: Project) -> None:
    tested.items("Make add() add", "Another")
    more = edit("test_calc.py", "    def test_two", "    def test_three(self):\n        self.assertEqual(calc.add(3, 0), 3)\n\n    def test_two")
    tested.record({ITEM: [[reply(ADDS, more, finish())]], "another": [[reply(edit("test_calc.py", "def test_three", "def three"), finish())]]})
    assert tested.agentctl("step").code == 0
    ran = tested.agentctl("step")
    assert ran.code == 4
    assert "before the step" not in ran.err  # what the gate saw is known: the checks aren't asked again
    assert "4 → 3 passed" in tested.agentctl("note", "another").out


@pytest.mark.usefixtures("unconfined")
def test_a_flaky_check_lands_on_its_second_try_and_the_note_says_so(project: Project) -> None:
    project.write("check.sh", f"test -e ../second || {{ touch ../second; exit 1; }}\n{CHECK}\n")
    project.commit("Flaky")
    (project.root.parent / "second").touch()
    project.items("Make add() add")
    project.record({ITEM: [[reply(ADDS, call("run", command="rm ../second"), finish())]]})
    ran = project.agentctl("step")
    assert ran.code == 0, ran.err
    assert "passed on the second try" in ran.out
    assert "passed on the second try" in project.git("show", "HEAD")


FAILING = TESTS.replace("calc.add(0, 0), 0)", "calc.add(0, 1), 1)").replace("calc.add(2, 0), 2)", "calc.add(0, 2), 2) or self.fail()")
MORE = edit("test_calc.py", "    def test_floats", "    def test_one(self):\n        self.assertEqual(calc.add(1, 1), 3)\n\n    def test_floats")


@pytest.mark.parametrize(
    ("allow", "edits", "code", "says"),
    [
        ((), [ADDS], 4, "(was red before: 2 failed, now 1)"),
        (("--allow", "still-red"), [ADDS], 0, "(was red before: 2 failed, now 1)"),
        (("--allow", "still-red"), [MORE], 4, "(was red before: 2 failed, now 3)"),
        (("--allow", "still-red"), [], 4, "without having changed a single file"),
    ],
)
def test_a_red_check_may_stay_red_where_a_person_allows_it_and_never_redder(
    tested: Project, allow: tuple[str, ...], edits: list[dict[str, object]], code: int, says: str
) -> None:
    tested.write("test_calc.py", FAILING)
    tested.commit("Red")
    tested.agentctl("todo", "add", "Make add() add", *allow)
    tested.record({ITEM: [[reply(*edits, finish())]]})
    assert tested.agentctl("step").code == code
    assert says in tested.git("show", "HEAD")
