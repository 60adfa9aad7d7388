from __future__ import annotations

import pytest

from agent.domain.todo import Item
from agent.gate.weakened.compare import weakened, weakens
from agent.gate.weakened.protocol import Sides

ITEM = Item("make-add-add", "Make add() add", "It subtracts.")
PYTHON = """import pytest
from calc import add


def test_add():
    assert add(2, 3) == 5
    assert add(0, 0) == 0


class TestMore:
    def test_floats(self):
        self.assertEqual(add(0.5, 1), 1.5)
"""


def told(path: str, before: str | None, after: str | None, item: Item = ITEM, *more: Sides) -> list[str]:
    return [one.text for one in weakened([Sides(path, before, after), *more], ["sh check.sh"], item)]


def change(old: str, new: str) -> list[str]:
    assert old in PYTHON
    return told("tests/test_calc.py", PYTHON, PYTHON.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "def test_add",
            "@pytest.mark.skip\ndef test_add",
            "tests/test_calc.py:5 is new and keeps tests from running or counting: `@pytest.mark.skip`.",
        ),
        ("def test_add", "@pytest.mark.xfail(reason='later')\ndef test_add", "test_calc.py:5 is new"),
        ("def test_add", "@pytest.mark.skipif(True, reason='x')\ndef test_add", "test_calc.py:5 is new"),
        ("class TestMore", "@expectedFailure\nclass TestMore", "test_calc.py:10 is new"),
        ("class TestMore:", "class TestMore:\n    pytestmark = pytest.mark.skip", "test_calc.py:11 is new"),
        ("    assert add(2", "    pytest.skip('later')\n    assert add(2", "test_calc.py:6 is new"),
        ("        self.assert", "        self.skipTest('x')\n        self.assert", "test_calc.py:12 is new"),
        ("from calc", "raise SystemExit(0)\nfrom calc", "test_calc.py:2 is new"),
        ("    assert add(0, 0) == 0\n", "", "`test_add` asserts less, 2 → 1 (gone: `add(0, 0) == 0`)"),
        ("    assert add(0, 0) == 0\n", "    assert True\n", "`test_add` asserts less, 2 → 1"),
        ("assert add(0, 0) == 0", "assert add(0, 0) == 0 or True", "`test_add` asserts less, 2 → 1"),
        ("assert add(0, 0) == 0", "assert (add(0, 0) == 0, 'message')", "`test_add` asserts less, 2 → 1"),
        ("    assert add(0, 0) == 0\n", "    # assert add(0, 0) == 0\n", "`test_add` asserts less, 2 → 1"),
        ("self.assertEqual(add(0.5, 1), 1.5)", "self.assertEqual(1.5, 1.5)", "`test_floats` asserts less, 1 → 0"),
        ("self.assertEqual(add(0.5, 1), 1.5)", "self.assertTrue(True)", "`test_floats` asserts less, 1 → 0"),
        ("assert add(2, 3) == 5", "assert add(2, 3) == -1", "`test_add` expects something else: `add(2, 3) == 5` → `add(2, 3) == -1`"),
        ("    assert add(2", "    return\n    assert add(2", "`test_add` asserts less, 2 → 0"),
        ("    assert add(0", "    if False:\n        assert add(0", "`test_add` asserts less, 2 → 1"),
        ("    assert add(0", "    if not True or 1 == 2:\n        assert add(0", "`test_add` asserts less, 2 → 1"),
        ("    assert add(0", "    for _ in []:\n        assert add(0", "`test_add` asserts less, 2 → 1"),
        ("    assert add(0, 0) == 0\n", "    def later():\n        assert add(0, 0) == 0\n", "`test_add` asserts less, 2 → 1"),
        (
            "    assert add(0, 0) == 0\n",
            "    try:\n        assert add(0, 0) == 0\n    except (ValueError, Exception) as e:\n        print(e)\n",
            "`test_add` asserts less, 2 → 1",
        ),
        ("    assert add(0", "    with contextlib.suppress(AssertionError):\n        assert add(0", "`test_add` asserts less, 2 → 1"),
        ("    assert add(0", "    with pytest.raises(AssertionError):\n        assert add(0", "`test_add` asserts less, 2 → 1"),
        ("class TestMore", "def test_add():\n    pass\n\n\nclass TestMore", "`test_add` asserts less, 2 → 0"),
        ("class TestMore:", "class TestMore:\n    def assertEqual(self, *_):\n        pass\n", "test_calc.py:11 is new"),
        ("class TestMore:", "class TestMore:\n    assertEqual = print\n", "test_calc.py:11 is new"),
        ("from calc", "from tools import pytest_runtest_makereport\nfrom calc", "test_calc.py:2 is new"),
        ("from calc", "import _pytest.python as p\np.Function.runtest = print\nfrom calc", "test_calc.py:3 is new"),
        ("from calc", "setattr(pytest, 'fail', print)\nfrom calc", "test_calc.py:2 is new"),
        ("    assert add(2", "    request.session.testsfailed = 0\n    assert add(2", "test_calc.py:6 is new"),
        ("    assert add(2", "    o._exit(0)\n    assert add(2", "test_calc.py:6 is new"),
        ("def test_floats", "def floats", ""),  # what is asserted stands elsewhere: the count of tests tells
    ],
)
def test_a_python_test_that_is_weakened_is_named(old: str, new: str, says: str) -> None:
    found = change(old, new)
    assert [says in one for one in found] == ([True] if says else [])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    assert add(2", "    assert add(1, 1) == 2\n    assert add(2"),
        ("self.assertEqual(add(0.5, 1), 1.5)", "assert add(0.5, 1) == 1.5"),
        ("def test_add", "def test_more():\n    assert add(1, 1) == 2\n\n\ndef test_add"),
        ("class TestMore", "class TestOther"),
        ("assert add(2, 3) == 5", "assert plus(2, 3) == 5"),
        ("import pytest\n", "import pytest\nimport sys\n"),
        ("    assert add(0", "    for _ in range(3):\n        assert add(0"),
        ("    assert add(0", "    if sys.platform == 'linux':\n        assert add(0"),
        (
            "    assert add(0",
            "    try:\n        assert add(0, 0) == 0\n    except AssertionError as e:\n        errors.append(e)\n    assert not errors and add(0",
        ),
        ("    assert add(0, 0) == 0\n", "    def holds():\n        assert add(0, 0) == 0\n\n    run(holds)\n"),
        ("def test_floats", "def assertSum(self, *_):\n        pass\n\n    def test_floats"),
        ("    assert add(0, 0) == 0\n", "    with pytest.raises(SystemExit):\n        add(0, 0)\n    assert add(0, 0) == 0\n"),
    ],
)
def test_a_python_test_that_is_rewritten_or_added_to_is_not(old: str, new: str) -> None:
    assert change(old, new) == []


def test_tests_that_move_to_another_file_are_not_gone_and_those_that_do_not_arrive_are() -> None:
    place = "tests/test_calc.py"
    assert told(place, PYTHON, None, ITEM, Sides("tests/unit/test_add.py", None, PYTHON)) == []
    lost = PYTHON.replace("    assert add(0, 0) == 0\n", "")
    assert told(place, PYTHON, None, ITEM, Sides("tests/unit/test_add.py", None, lost)) == [
        "tests/test_calc.py: `test_add` asserts less, 2 → 1 (gone: `add(0, 0) == 0`)."
    ]
    assert told(place, PYTHON, None) == ["tests/test_calc.py: `test_add` is gone.", "tests/test_calc.py: `test_floats` is gone."]


def test_a_skip_that_moves_with_its_test_is_not_new() -> None:
    skipped = PYTHON.replace("def test_add", "@pytest.mark.skip\ndef test_add")
    assert told("tests/test_calc.py", skipped, None, ITEM, Sides("tests/test_add.py", None, skipped)) == []


@pytest.mark.parametrize(
    ("item", "named"),
    [
        (Item("x", "Rework tests/test_calc.py"), True),
        (Item("x", "Rework test_calc.py"), True),
        (Item("x", "Convert", "No unittest is left under tests/."), True),
        (Item("x", "Convert", checks=("pytest -q ./tests/test_calc.py",)), True),
        (Item("x", "Convert", checks=("pytest -q tests/",)), False),
        (Item("x", "Rework tests/test_calc.pyx and other/test_calc.py"), False),
        (Item("x", "Rework tests/test_other.py"), False),
    ],
)
def test_only_a_file_that_the_item_names_may_lose_something(item: Item, *, named: bool) -> None:
    assert (told("tests/test_calc.py", PYTHON, None, item) == []) is named


def test_a_value_that_the_item_asks_for_may_be_expected() -> None:
    old, new = 'def test_a():\n    assert greet() == "Hello"\n', 'def test_a():\n    assert greet() == "Hi there"\n'
    assert len(told("test_a.py", old, new)) == 1
    assert told("test_a.py", old, new, Item("x", "Greet with “Hi there”")) == []
    assert len(told("test_a.py", old.replace('"Hello"', "1"), new.replace('"Hi there"', "5"), Item("x", "Do 15 things"))) == 1


JS = """import { add } from './calc';
describe('calc', () => {
  it('adds', () => {
    expect(add(2, 3)).toBe(5);
    expect(add(0, 0)).toBe(0);
  });
});
"""
GO = 'package calc\n\nfunc TestAdd(t *testing.T) {\n\tif Add(2, 3) != 5 {\n\t\tt.Errorf("no")\n\t}\n\trequire.Equal(t, 0, Add(0, 0))\n}\n'
RUST = 'pub fn add() { panic!("x") }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert_eq!(add(2, 3), 5);\n        assert!(add(0, 0) == 0);\n    }\n}\n'
JAVA = "class CalcTest {\n  @Test\n  void adds() {\n    assertEquals(5, add(2, 3));\n    assertThat(add(0, 0)).isZero();\n  }\n}\n"
FILES = {"src/calc.test.ts": JS, "calc_test.go": GO, "src/calc.rs": RUST, "src/test/java/CalcTest.java": JAVA}


@pytest.mark.parametrize(
    ("path", "old", "new", "says"),
    [
        *(
            ("src/calc.test.ts", "it('", f"{mark}('", "calc.test.ts:3 is new")
            for mark in ("it.skip", "it.only", "xit", "fit", "test.todo", "it.skip.each")
        ),
        ("src/calc.test.ts", "describe(", "describe.skip(", "calc.test.ts:2 is new"),
        ("src/calc.test.ts", "    expect(add(0, 0)).toBe(0);\n", "", "`'adds'` asserts less, 2 → 1"),
        ("src/calc.test.ts", "    expect(add(0, 0))", "    // expect(add(0, 0))", "`'adds'` asserts less, 2 → 1"),
        ("src/calc.test.ts", "expect(add(0, 0)).toBe(0)", "expect(true).toBe(true)", "`'adds'` asserts less, 2 → 1"),
        ("src/calc.test.ts", "toBe(5)", "toBe(-1)", "`'adds'` expects something else"),
        ("src/calc.test.ts", "it('", "it['skip']('", "calc.test.ts:3 is new"),
        ("src/calc.test.ts", "    expect(add(0", "    return;\n    expect(add(0", "`'adds'` asserts less, 2 → 1"),
        ("src/calc.test.ts", "    expect(add(0", "    if (false) expect(add(0", "calc.test.ts:5 is new"),
        ("src/calc.test.ts", "    expect(add(0, 0)).toBe(0);", "    try { expect(add(0, 0)).toBe(0) } catch {}", "calc.test.ts:5 is new"),
        ("calc_test.go", "\trequire", "\treturn\n\trequire", "`TestAdd` asserts less, 2 → 1"),
        ("calc_test.go", "!= 5 {", "!= 5 && false {", "calc_test.go:4 is new"),
        ("calc_test.go", "package calc", "//go:build never\n\npackage calc", "calc_test.go:1 is new"),
        ("src/calc.rs", "        assert!", "        return;\n        assert!", "`adds` asserts less, 2 → 1"),
        ("src/test/java/CalcTest.java", "    assertEquals", "    if (true) return;\n    assertEquals", "CalcTest.java:4 is new"),
        (
            "src/test/java/CalcTest.java",
            "    assertThat(add(0, 0)).isZero();\n",
            "    try { assertThat(add(0, 0)).isZero();\n    } catch (AssertionError e) {}\n",
            "CalcTest.java:6 is new",
        ),
        ("src/calc.test.ts", "it('", "expect.extend({\n  toBe() { return { pass: true } },\n});\nit('", "calc.test.ts:4 is new"),
        ("src/calc.test.ts", "it('", "process.exitCode = 0;\nit('", "calc.test.ts:3 is new"),
        ("src/calc.test.ts", "it('", "globalThis.expect = fine;\nit('", "calc.test.ts:3 is new"),
        ("calc_test.go", "func TestAdd", "func TestMain(m *testing.M) {\n}\n\nfunc TestAdd", "calc_test.go:3 is new"),
        ("calc_test.go", "\tif Add", "\tt = &testing.T{}\n\tif Add", "calc_test.go:4 is new"),
        ("calc_test.go", "\tif Add", "\tdefer func() { recover() }()\n\tif Add", "calc_test.go:4 is new"),
        ("src/calc.rs", "    #[test]", '    #[should_panic(expected = "no")]\n    #[test]', "`adds` asserts less, 2 → 0"),
        ("src/calc.rs", "        assert!", "        let _ = std::panic::catch_unwind(|| panic!());\n        assert!", "calc.rs:8 is new"),
        ("src/calc.rs", "        assert!", "        std::process::exit(0);\n        assert!", "calc.rs:8 is new"),
        ("src/test/java/CalcTest.java", "  @Test", "  @Test(expected = AssertionError.class)", "CalcTest.java:2 is new"),
        ("src/test/java/CalcTest.java", "    assertEquals", "    System.exit(0);\n    assertEquals", "CalcTest.java:4 is new"),
        ("calc_test.go", "\tif Add", '\tt.Skip("later")\n\tif Add', "calc_test.go:4 is new"),
        ("calc_test.go", "\trequire.Equal(t, 0, Add(0, 0))\n", "", "`TestAdd` asserts less, 2 → 1"),
        ("calc_test.go", "package calc", "//go:build ignore\n\npackage calc", "calc_test.go:1 is new"),
        ("src/calc.rs", "    fn adds", "    #[ignore]\n    fn adds", "calc.rs:6 is new"),
        ("src/calc.rs", "        assert!(add(0, 0) == 0);\n", "        assert!(true);\n", "`adds` asserts less, 2 → 1"),
        ("src/test/java/CalcTest.java", "  @Test", "  @Disabled\n  @Test", "CalcTest.java:2 is new"),
        ("src/test/java/CalcTest.java", "  @Test", '  @Ignore("x") @Test', "CalcTest.java:2 is new"),
        ("src/test/java/CalcTest.java", "    assertEquals(5, add(2, 3));\n", "", "`adds` asserts less, 2 → 1"),
    ],
)
def test_a_test_of_another_language_that_is_weakened_is_named(path: str, old: str, new: str, says: str) -> None:
    assert old in FILES[path]
    found = told(path, FILES[path], FILES[path].replace(old, new))
    assert [says in one for one in found] == [True], found


@pytest.mark.parametrize("path", FILES)
def test_a_test_file_that_is_deleted_is_seen_and_one_that_moves_is_not(path: str) -> None:
    assert told(path, FILES[path], None)
    assert told(path, FILES[path], None, ITEM, Sides(path.replace("alc", "alc2"), None, FILES[path])) == []


def test_code_that_is_no_test_may_lose_what_looks_like_an_assertion() -> None:
    assert told("src/calc.rs", RUST, RUST.replace('panic!("x")', "0")) == []
    assert not weakens("calc.go", ["sh check.sh"])
    assert not weakens("src/calc.ts", ["sh check.sh"])


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("pytest.ini", "addopts = --deselect tests/test_a.py::test_b"),
        ("pytest.ini", "addopts = -k 'not slow'"),
        ("pyproject.toml", 'addopts = "--ignore=tests/slow"'),
        ("pyproject.toml", 'testpaths = ["tests/fast"]'),
        ("conftest.py", 'collect_ignore = ["test_a.py"]'),
        ("tests/conftest.py", "def pytest_collection_modifyitems(items):\n    items.clear()"),
        ("tests/__init__.py", "raise SystemExit(0)"),
        ("vitest.config.ts", "  exclude: ['**/slow/**'],"),
        ("package.json", '    "test": "jest || true",'),
        ("pytest.ini", "addopts = -p tools.plugin"),
        ("tox.ini", "setenv = PYTHONOPTIMIZE=1"),
        ("tox.ini", "commands = python -B -O -m pytest"),
        ("Makefile", "export PYTEST_PLUGINS = tools.plugin"),
        ("pyproject.toml", "[project.entry-points.pytest11]"),
        ("jest.config.js", "  testRunner: './runner.js',"),
        ("vitest.config.ts", "  runner: './runner.ts',"),
        (".mocharc.yml", "grep: fast"),
        ("Cargo.toml", "harness = false"),
        ("Cargo.toml", "test = false"),
        (".cargo/config.toml", 'rustc-wrapper = "./wrap"'),
        (".npmrc", "node-options=--require ./first.js"),
        ("web/.yarnrc.yml", "yarnPath: ./yarn.cjs"),
        (".mvn/maven.config", "-DskipTests"),
        ("src/test/resources/junit-platform.properties", "junit.jupiter.conditions.deactivate=*"),
        ("Makefile", "\tpytest -q || true"),
        ("check.sh", "exit 0"),
        ("check.sh", "set +e"),
    ],
)
def test_settings_that_leave_tests_out_and_scripts_that_swallow_their_outcome_are_named(path: str, line: str) -> None:
    before = "x = 1\n"
    found = told(path, before, f"{before}{line}\n")
    assert len(found) >= 1
    assert all(f"{path}:2 is new" in one for one in found)


def test_a_check_script_may_grow_and_not_lose_a_line() -> None:
    assert told("check.sh", "pytest -q\nruff check\n", "pytest -q\nruff check\nmypy\n") == []
    assert told("check.sh", "pytest -q\nruff check\n", "echo fine\nruff check\n") == ["check.sh: `pytest -q` is gone."]


def test_a_test_that_should_fail_may_move_and_be_renamed_and_not_lose_the_mark() -> None:
    fails = RUST.replace("    fn adds", "    #[should_panic]\n    fn adds")
    assert told("src/calc.rs", fails, fails.replace("fn adds", "fn over")) == []
    assert told("src/calc.rs", fails, RUST) == ["src/calc.rs: `'adds fails'` is gone."]


def test_a_test_main_that_runs_the_tests_is_let_alone() -> None:
    assert told("calc_test.go", GO, GO + "\nfunc TestMain(m *testing.M) {\n\tsetup()\n\tos.Exit(m.Run())\n}\n") == []


@pytest.mark.parametrize(
    "line",
    ["addopts = -p no:cacheprovider", "[tool.ruff]", 'addopts = "-ra --strict-markers"', 'scripts = ["mkdir -p build"]', 'python = "3.11 -OK"'],
)
def test_a_setting_that_leaves_no_test_out_is_let_alone(line: str) -> None:
    assert told("pyproject.toml", "x = 1\n", f"x = 1\n{line}\n") == []


def test_hooks_of_pytest_are_seen_in_any_module_and_nothing_else_is() -> None:
    assert told("src/app.py", "import sys\n", "import sys\nassert sys\nsys.exit(1)\n") == []
    assert told("src/app.py", "x = 1\n", "class P:\n    def pytest_collection_modifyitems(self, items):\n        items.clear()\n")


MAKEFILE = """PY = python
NOTES = notes

test: lint
\t$(PY) -m pytest

lint: ; ruff check

ifdef DOCS
docs:
\tsphinx-build $(NOTES)
endif
"""


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("test: lint", "test:", "`test: lint` is gone"),
        ("ruff check", "ruff check --exit-zero", "is new"),
        ("\t$(PY) -m pytest", "\t$(PY) -m \\\n\t  pytest", ""),
        ("PY = python", "PY = python\nPY = true", "Makefile:2 is new"),
        ("PY = python", "export PATH := bin:$(PATH)\nPY = python", "Makefile:1 is new"),
        ("NOTES = notes", "NOTES = other", ""),
        ("sphinx-build", "mkdocs", ""),
        ("test: lint", "test: lint docs", ""),
    ],
)
def test_of_a_makefile_what_a_check_comes_to_is_held_and_nothing_else(old: str, new: str, says: str) -> None:
    found = [one.text for one in weakened([Sides("Makefile", MAKEFILE, MAKEFILE.replace(old, new))], ["make test"], ITEM)]
    assert bool(found) == bool(says)
    assert not says or says in " ".join(found)


def test_what_is_no_python_any_more_is_left_to_the_checks() -> None:
    assert told("tests/test_calc.py", PYTHON, "def test_(:\n") == []


def test_a_return_inside_a_callback_ends_no_test() -> None:
    after = JS.replace("    expect(add(0", "    [1].forEach(one => {\n      if (!one) {\n        return;\n      }\n    });\n    expect(add(0")
    assert told("src/calc.test.ts", JS, after) == []


@pytest.mark.parametrize(
    "path", ["pytest.py", "_pytest/__init__.py", "src/pluggy.py", "sitecustomize.py", "unittest/__main__.py", "tests/usercustomize.py", "x.pth"]
)
def test_a_file_that_python_loads_in_the_stead_of_a_test_runner_is_named(path: str) -> None:
    found = told(path, None, "print('3 passed in 0.01s')\nraise SystemExit\n")
    assert any(f"{path}:1 is new and keeps tests from running or counting: `print('3 passed in 0.01s')`" in one for one in found)


@pytest.mark.parametrize("path", ["app/pytest.py", "src/app/coverage.py", "tests/unittest/test_a.py", "pytest_plugin.py"])
def test_a_file_that_only_has_such_a_name_elsewhere_is_not(path: str) -> None:
    assert told(path, None, "x = 1\n") == []
