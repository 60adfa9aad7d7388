"""What selects tests, or swallows their outcome: test runners' settings, and the scripts and recipes that the checks run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.gate.weakened.protocol import Mark, Read, Tests
from agent.gate.weakened.recipes import recipe_reader

_SELECTS = (
    r"--deselect|--ignore(?:-glob)?\b|(?<![\w-])-k[ =]|(?<![\w-])-m[ =]['\"]?\\?['\"]?not\b|--lf\b|--last-failed"
    r"|\b(?:collect_ignore(?:_glob)?|norecursedirs|testpaths|python_(?:files|classes|functions))\b"
    r"|\b(?:testPathIgnorePatterns|modulePathIgnorePatterns|testMatch|testRegex|testNamePattern|testPathPattern|passWithNoTests|allowOnly)\b"
    r"|--(?:passWithNoTests|testPathIgnorePatterns|testNamePattern|grep|fgrep|exclude)\b"
    r"|\bskipTests?\b|testFailureIgnore|ignoreFailures|\bxfail_strict *= *(?:false|0)|maven\.test\.skip|<skip>\s*true|excludedGroups|excludeTestsMatching"
    r"|(?:addopts|pytest|PYTEST_ADDOPTS)\b.*(?<![\w-])-p[ ='\",]+(?!no:)\w|--(?:collect-only|co|noconftest|confcutdir|override-ini|reruns)\b|--suppress-[\w-]*exit-code"
    r"|\bPYTEST_PLUGINS\b|\bpytest11\b|\bPYTHONOPTIMIZE\b|\bpython[\d.]* +(?:-\w+ +)*-\w*O|--test-(?:name-pattern|skip-pattern|only)\b"
    r"|\b(?:testRunner|testResultsProcessor|dangerouslyIgnoreUnhandledErrors)\b"
)
_EXCLUDES = r"\b(?:exclude|ignore|include|spec|f?grep|invert|runner|retry|retries|roots)\b['\"]?\s*[:=]"
# What starts tests in another shell, by another program, or under a module of the tree.
_STARTERS = r"(?i)script-?shell|node-?options|ignore-?scripts|yarn-?path|preload|^\s*['\"]?(?:runner|rustc|rustdoc|rustc-wrapper|rustc-workspace-wrapper|rustflags)\b|^\s*-plugin"
_CARGO = r"\b(?:test|doctest|harness|autotests|debug-assertions|overflow-checks)\s*=\s*false"
_JVM = r"(?i)-Dmaven\.|-DskipTests|-Dtest=|-D\w*[gG]roups|(?:^|\s)(?:-fn|--fail-never)\b|-javaagent|deactivate|autodetection|\bexclude"
_SWALLOWS = r"\|\| *(?:true|:|exit 0|/bin/true)\b|\|\| *:|\bexit 0\b|\bset \+e\b|^\s*(?:true|:)\s*$|; *true *['\"]?,?$|^\t-[^-]|continue-on-error: *true|--exit-zero"
_RUNNER = (
    r"(?:^|/)(?:pytest\.ini|\.pytest\.ini|conftest\.py|noxfile\.py|(?:jest|vitest|vite|playwright|karma)\.config\.\w+|\.mocharc\.\w+|nextest\.toml)$"
)
_SHARED = r"(?:^|/)(?:pyproject\.toml|setup\.cfg|tox\.ini|package\.json|pom\.xml|build\.gradle(?:\.kts)?)$"
_STARTS = r"(?:^|/)(?:\.npmrc|\.yarnrc(?:\.yml)?|bunfig\.toml|pnpm-workspace\.yaml|\.cargo/config(?:\.toml)?)$"
_STARTS_JVM = r"(?:^|/)(?:\.mvn/(?:maven|jvm)\.config|gradle\.properties|junit-platform\.properties|testng\.xml)$"
_SHADOWS = r"(?:(?:src|lib|python|tests?)/)?(?:pytest|_pytest|pluggy|unittest|sitecustomize|usercustomize|nose2?|coverage)(?:\.py|/__(?:init|main)__\.py)|(?:.*/)?[^/]+\.pth"
_BUILD = r"(?:^|/)(?:GNUm|M|m)akefile$|\.mk$|(?:^|/)[Jj]ustfile$|(?:^|/)Taskfile\.ya?ml$"


_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    # By the file's path, what a line of it may not newly be.
    (_STARTS, (_STARTERS,)),
    (_STARTS_JVM, (_JVM,)),
    (r"(?:^|/)Cargo\.toml$", (_CARGO, _SELECTS, _SWALLOWS)),
    (_RUNNER, (_SELECTS, _EXCLUDES, _SWALLOWS)),
    (_SHARED, (_SELECTS, _SWALLOWS)),
    (_BUILD, (_SELECTS, _SWALLOWS)),
)


def settings_reader(path: str, commands: Sequence[str]) -> Read | None:
    """The reader of a file that settles which tests run or whether their outcome counts; None for any other.

    One that Python loads in the stead of a test runner, or before it, is as a whole what keeps tests from counting.
    """
    if re.fullmatch(_SHADOWS, path):
        return lambda text: Tests(marks=(Mark(1, text.strip().partition("\n")[0] or path),))
    script = not path.endswith(".py") and any(re.search(rf"(?<![\w-]){re.escape(path)}(?![\w-])", command) for command in commands)
    if recipe := recipe_reader(path, commands):
        marks = _reading(_SELECTS, _SWALLOWS)
        return lambda text: _both(marks(text), recipe(text))
    if patterns := next((patterns for names, patterns in _KINDS if re.search(names, path)), ()):
        return _reading(*patterns)
    return _reading(_SELECTS, _SWALLOWS, keeps=True) if script else None


def _both(one: Tests | None, other: Tests | None) -> Tests | None:
    return one and other and Tests({**one.asserted, **other.asserted}, (*one.marks, *other.marks))


def _reading(*patterns: str, keeps: bool = False) -> Read:
    """Marks the lines that match; where it `keeps` them, each line counts as an assertion of its own, which may move and not go."""

    def read(text: str) -> Tests:
        lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip() and not line.lstrip().startswith("#")]
        marks = tuple(Mark(number, line.strip()) for number, line in lines if any(re.search(pattern, line) for pattern in patterns))
        return Tests({line.strip(): (line.strip(),) for _, line in lines} if keeps else {}, marks)

    return read
