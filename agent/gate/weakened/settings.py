"""What selects tests, or swallows their outcome: test runners' settings, and the scripts that the checks run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.gate.weakened.protocol import Mark, Read, Tests

_SELECTS = re.compile(
    r"--deselect|--ignore(?:-glob)?\b|(?<![\w-])-k[ =]|(?<![\w-])-m[ =]['\"]?\\?['\"]?not\b|--lf\b|--last-failed"
    r"|\b(?:collect_ignore(?:_glob)?|norecursedirs|testpaths|python_(?:files|classes|functions))\b"
    r"|\b(?:testPathIgnorePatterns|modulePathIgnorePatterns|testMatch|testRegex|testNamePattern|testPathPattern|passWithNoTests|allowOnly)\b"
    r"|--(?:passWithNoTests|testPathIgnorePatterns|testNamePattern|grep|fgrep|exclude)\b"
    r"|\bskipTests?\b|testFailureIgnore|ignoreFailures|\bxfail_strict *= *(?:false|0)"
)
_EXCLUDES = re.compile(r"\b(?:exclude|ignore|include|spec)\b['\"]?\s*[:=]")
_SWALLOWS = re.compile(
    r"\|\| *(?:true|:|exit 0|/bin/true)\b|\|\| *:|\bexit 0\b|\bset \+e\b|^\s*(?:true|:)\s*$|; *true *['\"]?,?$|^\t-[^-]|continue-on-error: *true|--exit-zero"
)
_RUNNER = re.compile(
    r"(?:^|/)(?:pytest\.ini|\.pytest\.ini|conftest\.py|noxfile\.py|(?:jest|vitest|vite|playwright|karma)\.config\.\w+|\.mocharc\.\w+|nextest\.toml)$"
)
_SHARED = re.compile(r"(?:^|/)(?:pyproject\.toml|setup\.cfg|tox\.ini|package\.json|pom\.xml|build\.gradle(?:\.kts)?|Cargo\.toml)$")
_SHADOWS = re.compile(
    r"(?:(?:src|lib|python|tests?)/)?(?:pytest|_pytest|pluggy|unittest|sitecustomize|usercustomize|nose2?|coverage)(?:\.py|/__(?:init|main)__\.py)|(?:.*/)?[^/]+\.pth"
)
_BUILD = re.compile(r"(?:^|/)(?:GNUm|M|m)akefile$|\.mk$|(?:^|/)[Jj]ustfile$|(?:^|/)Taskfile\.ya?ml$")


def settings_reader(path: str, commands: Sequence[str]) -> Read | None:
    """The reader of a file that settles which tests run or whether their outcome counts; None for any other.

    One that Python loads in the stead of a test runner, or before it, is as a whole what keeps tests from counting.
    """
    if _SHADOWS.fullmatch(path):
        return lambda text: Tests(marks=(Mark(1, text.strip().partition("\n")[0] or path),))
    script = not path.endswith(".py") and any(re.search(rf"(?<![\w-]){re.escape(path)}(?![\w-])", command) for command in commands)
    if _RUNNER.search(path):
        return _reading(_SELECTS, _EXCLUDES, _SWALLOWS)
    if _SHARED.search(path):
        return _reading(_SELECTS, _SWALLOWS)
    if script or _BUILD.search(path):
        return _reading(_SELECTS, _SWALLOWS, keeps=script)
    return None


def _reading(*patterns: re.Pattern[str], keeps: bool = False) -> Read:
    """Marks the lines that match; where it `keeps` them, each line counts as an assertion of its own, which may move and not go."""

    def read(text: str) -> Tests:
        lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip() and not line.lstrip().startswith("#")]
        marks = tuple(Mark(number, line.strip()) for number, line in lines if any(pattern.search(line) for pattern in patterns))
        return Tests({line.strip(): (line.strip(),) for _, line in lines} if keeps else {}, marks)

    return read
