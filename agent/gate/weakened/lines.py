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

    test: re.Pattern[str]
    asserts: re.Pattern[str]
    mark: re.Pattern[str]
    begins: re.Pattern[str] = re.compile("")
    turns: re.Pattern[str] = re.compile("(?!)")
    starts: re.Pattern[str] = re.compile("(?!)")


# A condition that never holds, and one that always ends the test.
_NEVER = r"\bif\s*(?:\(\s*(?:false|0|!true|!1)\s*\)|(?:false|!true)\s*\{)|&&\s*false\b|\bif\s*(?:\(\s*(?:true|1)\s*\)|true\s*\{)\s*\{?\s*return\b"
_GO_TAGS = "linux|darwin|windows|unix|freebsd|amd64|arm64|integration|e2e|race|cgo|go1"

# Of expect and of node's assert: who gives one of these names another meaning.
_MATCHER = r"to(?:Be|Equal|StrictEqual|Match|Contain|Throw|HaveLength)\w*"
_EQUAL = r"(?:not)?(?:[dD]eep)?(?:[sS]trict)?[eE]qual"

JAVASCRIPT = Language(
    test=re.compile(r"(?:^|[^\w.])(?:x|f)?(?:it|test|specify)(?:\.\w+)*\s*\(\s*(['\"`].*?['\"`])"),
    asserts=re.compile(r"\bexpect\s*\(|(?<![\w.])assert(?:\.\w+)*\s*\(|\.should\b|\bt\.(?:is|deepEqual|true|false|throws|assert)\w*\("),
    mark=re.compile(
        r"\b(?:it|test|describe|context|suite|specify)(?:\.\w+)*\.(?:skip|only|todo|skipIf|runIf|failing|fails|fixme)\b"
        r"|(?:^|[^\w.])(?:xit|xtest|xspecify|xdescribe|xcontext|fit|fdescribe)\s*\(|\bthis\.skip\(|\bt\.(?:skip|todo)\(|\b(?:skip|todo|only)\s*:\s*(?:true|['\"])"
        r"|\bprocess\.(?:exit\(\s*0?\s*\)|exitCode\s*=\s*0|reallyExit)|\bretryTimes\(|\b(?:global|globalThis|window)\.(?:it|test|describe|expect|assert)\s*="
        rf"|\.(?:{_MATCHER}|{_EQUAL})\s*=(?![=>])|\bassert\.\w+\s*=(?![=>])|^\s*(?:async\s+)?{_MATCHER}\s*(?:\(.*\)\s*\{{|:)"
        r"|\b(?:it|test|describe)\s*\[\s*['\"`](?:skip|only|todo|fails|failing)['\"`]\s*\]|\bcatch\s*(?:\(\s*\w*\s*\)\s*)?\{\s*\}"
        rf"|{_NEVER}"
    ),
)
GO = Language(
    test=re.compile(r"^func\s+(?:\([^)]*\)\s*)?((?:Test|Fuzz|Example)\w*)\s*\("),
    asserts=re.compile(r"\b[tbf]\.(?:Error|Fatal|Fail)\w*\(|\b(?:assert|require|is|qt|c)\.[A-Z]\w*\("),
    mark=re.compile(
        r"\b[tbf]\.Skip(?:f|Now)?\(|^\s*//\s*(?:go:build|\+build)\s.*\bignore\b|\b(?:os|syscall)\.Exit\(0\)|&testing\.[TM]\{|\bnew\(testing\.T\)|\{\s*(?:_\s*=\s*)?recover\(\)\s*\}|\btesting\.Short\(\)"
        rf"|^\s*//\s*(?:go:build|\+build)\s(?!.*\b(?:{_GO_TAGS}))|{_NEVER}"
    ),
    starts=re.compile(r"^func\s+TestMain\(\s*(\w+)\s.*$(?![\s\S]*\b\1\.Run\(\))", re.MULTILINE),
)
RUST = Language(
    test=re.compile(r"^\s*(?:pub\s+)?(?:async\s+)?fn\s+(\w+)"),
    asserts=re.compile(r"\b(?:debug_)?assert(?:_\w+)?!\s*[(\[{]|\bpanic!\s*\("),
    begins=re.compile(r"#\[(?:\w+::)*test\b|#\[cfg\(test\)\]"),
    mark=re.compile(
        r"#\s*!?\[\s*(?:ignore\b|cfg\(any\(\)\)|cfg\(not\(test\)\)|cfg_attr\([^\]]*\bignore\b)"
        r"|\bprocess::exit\(\s*0\s*\)|\bmacro_rules!\s*(?:debug_)?(?:assert|panic)|\blet\s+_\w*\s*=.*\bcatch_unwind\b|\bcatch_unwind\(.*\)\s*\.ok\(\)"
        rf"|{_NEVER}"
    ),
    turns=re.compile(r"#\s*\[\s*(?:should_panic\b|cfg_attr\([^\]]*\bshould_panic\b)"),
)
JVM = Language(
    test=re.compile(r"^\s*(?:(?:public|private|protected|internal|final|static|suspend|override)\s+)*(?:void|fun)\s+(`[^`]+`|\w+)\s*\("),
    asserts=re.compile(r"\b(?:assert\w*|verify\w*|fail|should\w+)\s*[({]|\bassert\s|\bshouldBe\b"),
    mark=re.compile(
        r"@(?:Disabled|Ignored?|Enabled(?:If|On|For)|DisabledIf)\w*\b|\bassum(?:e|ing)\w*\s*\(|\bAssume\.|\benabled\s*=\s*false|\bSystem\.exit\(0\)|\bexitProcess\(0\)"
        r"|\b(?:expected\s*=|assertThrows(?:Exactly)?\s*[(<]|shouldThrow<)\s*(?:\w+\.)*(?:Throwable|AssertionError|AssertionFailedError|Error)\b"
        rf"|\bcatch\s*\(\s*(?:final\s+)?(?:\w+\s*:\s*)?(?:Throwable|AssertionError|AssertionFailedError|Error)\b|{_NEVER}"
    ),
)

_TRIVIAL = re.compile(
    r"expect\s*\(\s*(true|1)\s*\)\.to(?:Be|Equal|StrictEqual|BeTruthy)\(\s*\1?\s*\)|assert(?:\.ok|\.equal|True|That)?!?\s*\(\s*true\s*(?:,[^()]*)?\)|assert!\s*\(\s*true"
)
_RETURN = re.compile(r"\s*return\s*(?:\(\)|undefined|null|nil)?\s*;?\s*$")
_COMMENT = re.compile(r"^\s*(?://(?!\s*(?:go:build|\+build))|\*|/\*)")


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
        begun = begun or bool(language.begins.search(line))
        if not begun or _COMMENT.match(line):
            continue
        turned = turned or (line.strip() if language.turns.search(line) else "")
        if named := language.test.search(line):
            owner, body, over = named[1], -1, False
            asserted.setdefault(owner, [])
            fails, turned = turned, ""
            if fails:
                asserted.setdefault(f"'{owner} fails'", []).append(fails)
        elif owner and line.strip():
            depth = len(line) - len(line.lstrip())
            body = depth if body < 0 else body
            over = (over and depth >= body) or (depth == body and bool(_RETURN.match(line)))
        # A whole test may stand in one line: what is before the assertion is no part of it.
        if (found := language.asserts.search(line)) and not (over or fails) and not _TRIVIAL.search(line):
            asserted.setdefault(owner, []).append(" ".join(line[found.start() :].split()))
        if language.mark.search(line):
            marks.append(Mark(number, line.strip()))
    if never := language.starts.search(text):
        marks.append(Mark(text.count("\n", 0, never.start()) + 1, never[0].strip()))
    return Tests({name: tuple(told) for name, told in asserted.items()}, tuple(marks))
