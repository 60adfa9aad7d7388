"""go test, cargo test and nextest."""

from __future__ import annotations

import re

from agent.gate.formats.protocol import Counts, Runner

_GO_PACKAGE = r"(?m)^(?:(ok) +\t\S+\t([^\n]*)|(FAIL)\t\S+(?:\t| \[)[^\n]*|(\?) +\t\S+\t\[no test files\])$"
_GO_TEST = r"(?m)^--- (PASS|FAIL|SKIP): "
_GO_RUN = r"(?m)^=== RUN +\S"
_GO_NOISE = r"(?:ok +\t|\? +\t|=== (?:RUN|PAUSE|CONT|NAME)| *--- (?:PASS|SKIP): |PASS$|coverage: )"
_CARGO = r"(?m)^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored; (\d+) measured; (\d+) filtered out"
_NEXTEST = r"(?m)^ *Summary \[[^\]\n]*\] +\d+(?:/\d+)? tests? run: ([^\n]*)$"
_CARGO_ERROR = r"(?m)^error(?:\[E\d+\])?: "


def _go_counts(text: str) -> list[Counts]:
    packages = re.findall(_GO_PACKAGE, text)
    if not packages:
        return []
    broken = sum(1 for match in re.finditer(_GO_PACKAGE, text) if match[3] and match[0].endswith("failed]"))
    if re.search(_GO_RUN, text):
        words = re.findall(_GO_TEST, text)
        return [Counts("go", passed=words.count("PASS"), failed=words.count("FAIL"), errors=broken, skipped=words.count("SKIP"))]
    passed = sum(1 for ok, detail, _, _ in packages if ok and "[no tests to run]" not in detail)
    failed = sum(1 for _, _, fail, _ in packages if fail) - broken
    return [Counts("go", passed=passed, failed=failed, errors=broken, unit="package")]


def _go_failing(text: str) -> str:
    packages = list(re.finditer(_GO_PACKAGE, text))
    if not any(match[3] for match in packages):
        return ""
    return "\n".join(line for line in text.split("\n") if not re.match(_GO_NOISE, line))


def _cargo_counts(text: str) -> list[Counts]:
    totals = [[int(count) for count in match] for match in re.findall(_CARGO, text)]
    counts = [
        Counts("cargo", passed=passed + measured, failed=failed, skipped=ignored, deselected=out) for passed, failed, ignored, measured, out in totals
    ]
    return counts + [_nextest_total(total) for total in re.findall(_NEXTEST, text)]


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
    error = re.search(_CARGO_ERROR, text)
    return text[error.start() :] if error else ""


RUNNERS = (Runner("go", _go_counts, _go_failing), Runner("cargo", _cargo_counts, _cargo_failing))
