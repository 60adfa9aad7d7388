"""go test, cargo test and nextest."""

from __future__ import annotations

import re

from agent.gate.formats.protocol import Counts, Runner

_GO_PACKAGE = re.compile(r"^(?:(ok) +\t\S+\t([^\n]*)|(FAIL)\t\S+(?:\t| \[)[^\n]*|(\?) +\t\S+\t\[no test files\])$", re.MULTILINE)
_GO_TEST = re.compile(r"^--- (PASS|FAIL|SKIP): ", re.MULTILINE)
_GO_RUN = re.compile(r"^=== RUN +\S", re.MULTILINE)
_GO_NOISE = re.compile(r"(?:ok +\t|\? +\t|=== (?:RUN|PAUSE|CONT|NAME)| *--- (?:PASS|SKIP): |PASS$|coverage: )")
_CARGO = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored; (\d+) measured; (\d+) filtered out", re.MULTILINE)
_NEXTEST = re.compile(r"^ *Summary \[[^\]\n]*\] +\d+(?:/\d+)? tests? run: ([^\n]*)$", re.MULTILINE)
_CARGO_ERROR = re.compile(r"^error(?:\[E\d+\])?: ", re.MULTILINE)


def _go_counts(text: str) -> list[Counts]:
    packages = _GO_PACKAGE.findall(text)
    if not packages:
        return []
    broken = sum(1 for match in _GO_PACKAGE.finditer(text) if match[3] and match[0].endswith("failed]"))
    if _GO_RUN.search(text):
        words = _GO_TEST.findall(text)
        return [Counts("go", passed=words.count("PASS"), failed=words.count("FAIL"), errors=broken, skipped=words.count("SKIP"))]
    passed = sum(1 for ok, detail, _, _ in packages if ok and "[no tests to run]" not in detail)
    failed = sum(1 for _, _, fail, _ in packages if fail) - broken
    return [Counts("go", passed=passed, failed=failed, errors=broken, unit="package")]


def _go_failing(text: str) -> str:
    packages = list(_GO_PACKAGE.finditer(text))
    if not any(match[3] for match in packages):
        return ""
    return "\n".join(line for line in text.split("\n") if not _GO_NOISE.match(line))


def _cargo_counts(text: str) -> list[Counts]:
    totals = [[int(count) for count in match] for match in _CARGO.findall(text)]
    counts = [
        Counts("cargo", passed=passed + measured, failed=failed, skipped=ignored, deselected=out) for passed, failed, ignored, measured, out in totals
    ]
    return counts + [_nextest_total(total) for total in _NEXTEST.findall(text)]


def _nextest_total(total: str) -> Counts:
    words = {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|skipped|timed out|exec failed)", total)}
    failed = words.get("failed", 0) + words.get("timed out", 0)
    return Counts("cargo", passed=words.get("passed", 0), failed=failed, errors=words.get("exec failed", 0), skipped=words.get("skipped", 0))


def _cargo_failing(text: str) -> str:
    """The `failures:` of each test binary; of a build that failed, all from its first error on."""
    kept: list[str] = []
    inside = False
    for line in text.split("\n"):
        inside = inside or line == "failures:"
        if inside:
            kept.append(line)
        inside = inside and not line.startswith("test result: ")
    if kept or ("Compiling " not in text and "could not compile" not in text):
        return "\n".join(kept)
    error = _CARGO_ERROR.search(text)
    return text[error.start() :] if error else ""


RUNNERS = (Runner("go", _go_counts, _go_failing), Runner("cargo", _cargo_counts, _cargo_failing))
