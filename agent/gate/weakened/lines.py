"""Tests of other languages, line by line: JavaScript and TypeScript, Go, Rust, and those of the JVM."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.gate.weakened.protocol import Mark, Read, Tests


@dataclass(frozen=True)
class Language:
    """How a language's tests look in a line. `test` has the test's name as its first group; `begins` is where tests begin in a file of other code."""

    test: re.Pattern[str]
    asserts: re.Pattern[str]
    mark: re.Pattern[str]
    begins: re.Pattern[str] = re.compile("")


JAVASCRIPT = Language(
    test=re.compile(r"(?:^|[^\w.])(?:x|f)?(?:it|test|specify)(?:\.\w+)*\s*\(\s*(['\"`].*?['\"`])"),
    asserts=re.compile(r"\bexpect\s*\(|(?<![\w.])assert(?:\.\w+)*\s*\(|\.should\b|\bt\.(?:is|deepEqual|true|false|throws|assert)\w*\("),
    mark=re.compile(
        r"\b(?:it|test|describe|context|suite|specify)(?:\.\w+)*\.(?:skip|only|todo|skipIf|runIf|failing|fails|fixme)\b"
        r"|(?:^|[^\w.])(?:xit|xtest|xspecify|xdescribe|xcontext|fit|fdescribe)\s*\(|\bthis\.skip\(|\bt\.(?:skip|todo)\(|\b(?:skip|todo|only)\s*:\s*(?:true|['\"])"
    ),
)
GO = Language(
    test=re.compile(r"^func\s+(?:\([^)]*\)\s*)?((?:Test|Fuzz|Example)\w*)\s*\("),
    asserts=re.compile(r"\b[tbf]\.(?:Error|Fatal|Fail)\w*\(|\b(?:assert|require|is|qt|c)\.[A-Z]\w*\("),
    mark=re.compile(r"\b[tbf]\.Skip(?:f|Now)?\(|^\s*//\s*(?:go:build|\+build)\s.*\bignore\b|\bos\.Exit\(0\)|\btesting\.Short\(\)"),
)
RUST = Language(
    test=re.compile(r"^\s*(?:pub\s+)?(?:async\s+)?fn\s+(\w+)"),
    asserts=re.compile(r"\b(?:debug_)?assert(?:_\w+)?!\s*[(\[{]|\bpanic!\s*\("),
    begins=re.compile(r"#\[(?:\w+::)*test\b|#\[cfg\(test\)\]"),
    mark=re.compile(r"#\s*!?\[\s*(?:ignore\b|cfg\(any\(\)\)|cfg\(not\(test\)\)|cfg_attr\([^\]]*\bignore\b)"),
)
JVM = Language(
    test=re.compile(r"^\s*(?:(?:public|private|protected|internal|final|static|suspend|override)\s+)*(?:void|fun)\s+(`[^`]+`|\w+)\s*\("),
    asserts=re.compile(r"\b(?:assert\w*|verify\w*|fail|should\w+)\s*[({]|\bassert\s|\bshouldBe\b"),
    mark=re.compile(r"@(?:Disabled|Ignored?|Enabled(?:If|On|For)|DisabledIf)\w*\b|\bassum(?:e|ing)\w*\s*\(|\bAssume\.|\benabled\s*=\s*false"),
)

_TRIVIAL = re.compile(
    r"expect\s*\(\s*(true|1)\s*\)\.to(?:Be|Equal|StrictEqual|BeTruthy)\(\s*\1?\s*\)|assert(?:\.ok|\.equal|True|That)?!?\s*\(\s*true\s*(?:,[^()]*)?\)|assert!\s*\(\s*true"
)
_COMMENT = re.compile(r"^\s*(?://(?!\s*(?:go:build|\+build))|\*|/\*)")


def reader(language: Language) -> Read:
    """Reads texts of `language`."""
    return lambda text: _read(text, language)


def _read(text: str, language: Language) -> Tests:
    asserted: dict[str, list[str]] = {}
    marks: list[Mark] = []
    owner, begun = "", False
    for number, line in enumerate(text.splitlines(), 1):
        begun = begun or bool(language.begins.search(line))
        if not begun or _COMMENT.match(line):
            continue
        if named := language.test.search(line):
            owner = named[1]
            asserted.setdefault(owner, [])
        # A whole test may stand in one line: what is before the assertion is no part of it.
        if (found := language.asserts.search(line)) and not _TRIVIAL.search(line):
            asserted.setdefault(owner, []).append(" ".join(line[found.start() :].split()))
        if language.mark.search(line):
            marks.append(Mark(number, line.strip()))
    return Tests({name: tuple(told) for name, told in asserted.items()}, tuple(marks))
