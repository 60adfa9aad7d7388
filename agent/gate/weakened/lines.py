"""Tests of other languages, line by line: JavaScript and TypeScript, Go, Rust, and those of the JVM."""

from __future__ import annotations

import re

from msgspec import Struct

from agent.gate.weakened.protocol import Mark, Read, Tests


class Language(Struct, frozen=True):
    """How a language's tests look in a line. `test` has the test's name as its first group; `begins` is where tests begin in a file of other code.

    `turns` is a mark before a test, or on it, by which it passes if it fails: what it asserts is then that it fails, and nothing else.
    `starts` is where tests are started by hand, and never are.
    """

    test: str
    asserts: str
    mark: str
    begins: str = ""
    turns: str = "(?!)"
    starts: str = "(?!)"


# A condition that never holds, and one that always ends the test.
_NEVER = r"\bif\s*(?:\(\s*(?:false|0|!true|!1)\s*\)|(?:false|!true)\s*\{)|&&\s*false\b|\bif\s*(?:\(\s*(?:true|1)\s*\)|true\s*\{)\s*\{?\s*return\b"
_GO_TAGS = "linux|darwin|windows|unix|freebsd|amd64|arm64|integration|e2e|race|cgo|go1"

# Of expect and of node's assert: who gives one of these names another meaning.
_MATCHER = r"to(?:Be|Equal|StrictEqual|Match|Contain|Throw|HaveLength)\w*"
_EQUAL = r"(?:not)?(?:[dD]eep)?(?:[sS]trict)?[eE]qual"

JAVASCRIPT = Language(
    test=r"(?:^|[^\w.])(?:x|f)?(?:it|test|specify)(?:\.\w+)*\s*\(\s*(['\"`].*?['\"`])",
    asserts=r"\bexpect\s*\(|(?<![\w.])assert(?:\.\w+)*\s*\(|\.should\b|\bt\.(?:is|deepEqual|true|false|throws|assert)\w*\(",
    mark=(
        r"\b(?:it|test|describe|context|suite|specify)(?:\.\w+)*\.(?:skip|only|todo|skipIf|runIf|failing|fails|fixme)\b"
        r"|(?:^|[^\w.])(?:xit|xtest|xspecify|xdescribe|xcontext|fit|fdescribe)\s*\(|\bthis\.skip\(|\bt\.(?:skip|todo)\(|\b(?:skip|todo|only)\s*:\s*(?:true|['\"])"
        r"|\bprocess\.(?:exit\(\s*0?\s*\)|exitCode\s*=\s*0|reallyExit)|\bretryTimes\(|\b(?:global|globalThis|window)\.(?:it|test|describe|expect|assert)\s*="
        rf"|\.(?:{_MATCHER}|{_EQUAL})\s*=(?![=>])|\bassert\.\w+\s*=(?![=>])|^\s*(?:async\s+)?{_MATCHER}\s*(?:\(.*\)\s*\{{|:)"
        r"|\b(?:it|test|describe)\s*\[\s*['\"`](?:skip|only|todo|fails|failing)['\"`]\s*\]|\bcatch\s*(?:\(\s*\w*\s*\)\s*)?\{\s*\}"
        rf"|{_NEVER}"
    ),
)
GO = Language(
    test=r"^func\s+(?:\([^)]*\)\s*)?((?:Test|Fuzz|Example)\w*)\s*\(",
    asserts=r"\b[tbf]\.(?:Error|Fatal|Fail)\w*\(|\b(?:assert|require|is|qt|c)\.[A-Z]\w*\(",
    mark=(
        r"\b[tbf]\.Skip(?:f|Now)?\(|^\s*//\s*(?:go:build|\+build)\s.*\bignore\b|\b(?:os|syscall)\.Exit\(0\)|&testing\.[TM]\{|\bnew\(testing\.T\)|\{\s*(?:_\s*=\s*)?recover\(\)\s*\}|\btesting\.Short\(\)"
        rf"|^\s*//\s*(?:go:build|\+build)\s(?!.*\b(?:{_GO_TAGS}))|{_NEVER}"
    ),
    starts=r"(?m)^func\s+TestMain\(\s*(\w+)\s.*$(?![\s\S]*\b\1\.Run\(\))",
)
RUST = Language(
    test=r"^\s*(?:pub\s+)?(?:async\s+)?fn\s+(\w+)",
    asserts=r"\b(?:debug_)?assert(?:_\w+)?!\s*[(\[{]|\bpanic!\s*\(",
    begins=r"#\[(?:\w+::)*test\b|#\[cfg\(test\)\]",
    mark=(
        r"#\s*!?\[\s*(?:ignore\b|cfg\(any\(\)\)|cfg\(not\(test\)\)|cfg_attr\([^\]]*\bignore\b)"
        r"|\bprocess::exit\(\s*0\s*\)|\bmacro_rules!\s*(?:debug_)?(?:assert|panic)|\blet\s+_\w*\s*=.*\bcatch_unwind\b|\bcatch_unwind\(.*\)\s*\.ok\(\)"
        rf"|{_NEVER}"
    ),
    turns=r"#\s*\[\s*(?:should_panic\b|cfg_attr\([^\]]*\bshould_panic\b)",
)
JVM = Language(
    test=r"^\s*(?:(?:public|private|protected|internal|final|static|suspend|override)\s+)*(?:void|fun)\s+(`[^`]+`|\w+)\s*\(",
    asserts=r"\b(?:assert\w*|verify\w*|fail|should\w+)\s*[({]|\bassert\s|\bshouldBe\b",
    mark=(
        r"@(?:Disabled|Ignored?|Enabled(?:If|On|For)|DisabledIf)\w*\b|\bassum(?:e|ing)\w*\s*\(|\bAssume\.|\benabled\s*=\s*false|\bSystem\.exit\(0\)|\bexitProcess\(0\)"
        r"|\b(?:expected\s*=|assertThrows(?:Exactly)?\s*[(<]|shouldThrow<)\s*(?:\w+\.)*(?:Throwable|AssertionError|AssertionFailedError|Error)\b"
        rf"|\bcatch\s*\(\s*(?:final\s+)?(?:\w+\s*:\s*)?(?:Throwable|AssertionError|AssertionFailedError|Error)\b|{_NEVER}"
    ),
)

_TRIVIAL = r"expect\s*\(\s*(true|1)\s*\)\.to(?:Be|Equal|StrictEqual|BeTruthy)\(\s*\1?\s*\)|assert(?:\.ok|\.equal|True|That)?!?\s*\(\s*true\s*(?:,[^()]*)?\)|assert!\s*\(\s*true"
_RETURN = r"\s*return\s*(?:\(\)|undefined|null|nil)?\s*;?\s*$"
_COMMENT = r"^\s*(?://(?!\s*(?:go:build|\+build))|\*|/\*)"


def reader(language: Language) -> Read:
    """Reads texts of `language`."""
    return lambda text: _read(text, language)


def _read(text: str, language: Language) -> Tests:
    asserted: dict[str, list[str]] = {}
    marks: list[Mark] = []
    owner, begun = "", False
    turned, fails = "", ""  # the mark by which the next test passes if it fails, and that of this one
    body, over = -1, False  # how deep the first line of the test's body stands, and whether a bare return has ended it
    for number, line in enumerate(text.splitlines(), 1):
        begun = begun or bool(re.search(language.begins, line))
        if not begun or re.match(_COMMENT, line):
            continue
        turned = turned or (line.strip() if re.search(language.turns, line) else "")
        if named := re.search(language.test, line):
            owner, body, over = named[1], -1, False
            asserted.setdefault(owner, [])
            fails, turned = turned, ""
            if fails:
                asserted.setdefault(f"'{owner} fails'", []).append(fails)
        elif owner and line.strip():
            depth = len(line) - len(line.lstrip())
            body = depth if body < 0 else body
            over = (over and depth >= body) or (depth == body and bool(re.match(_RETURN, line)))
        # A whole test may stand in one line: what is before the assertion is no part of it.
        if (found := re.search(language.asserts, line)) and not (over or fails) and not re.search(_TRIVIAL, line):
            asserted.setdefault(owner, []).append(" ".join(line[found.start() :].split()))
        if re.search(language.mark, line):
            marks.append(Mark(number, line.strip()))
    if never := re.search(language.starts, text):
        marks.append(Mark(text.count("\n", 0, never.start()) + 1, never[0].strip()))
    return Tests({name: tuple(told) for name, told in asserted.items()}, tuple(marks))
