"""What a check's output says: how many tests ran, in one line how it went, and what failed."""

from __future__ import annotations

import re
from functools import reduce
from itertools import islice
from operator import add

from agent.domain.output import fold_output
from agent.domain.text import one_line
from agent.gate.formats import compiled, javascript, jvm, python
from agent.gate.formats.names import told_names
from agent.gate.formats.protocol import UNTOLD, Counts, Tally

_RUNNERS = (*python.RUNNERS, *javascript.RUNNERS, *compiled.RUNNERS, *jvm.RUNNERS)
_WIDTH = 100
_LAST_LINES = 40
_ENDING_LINES = 5

# What runners print that have found nothing and print no total; PHPUnit, RSpec, CTest and .NET among them.
_NOTHING = (
    r"(?m)^[ \t]*(?:No tests? (?:files? )?(?:found|ran|executed|were found|is available|to run)\b"
    r"|no tests ran\b|NO TESTS RAN$|0 examples, 0 failures|collected 0 items$|testing: warning: no tests to run$)"
)
_NO_TESTS_COLLECTED = 5  # pytest's exit code, and unittest's since Python 3.12
# Lines that only pass on that something below them failed, and progress without words.
_WRAPPER = (
    r"g?make(?:\[\d+\])?: |npm (?:error|ERR!)|ERROR: InvocationError|error Command failed|info Visit |ERR_PNPM_|.?ELIFECYCLE"
    r"|\[ERROR\] (?:\[Help|->|To see the full|Re-run Maven|For more information|$)|[.sxXEFR]+ +\[ *\d+%\]$"
)
_TELLING = r"(?i)error|fail|fatal|exception|not found|denied|no such"


def tally(output: str) -> Tally:
    """The sum of all totals that known runners printed in `output`, and the tests' names where they are told."""
    text = _plain(output)
    counts = _counts(text)
    return Tally.of(counts, *told_names(text)) if counts else UNTOLD


def nothing_ran(output: str, code: int | None) -> bool:
    """Whether a test runner was started and no test ran: none found, all filtered out, or all skipped.

    False for a command that is no known test runner. `code` is its exit code, None where it had none.
    """
    text = _plain(output)
    return _nothing_ran(text, _counts(text), code)


def summary(output: str, code: int | None, seconds: float) -> str:
    """One line of at most 100 columns: the totals, or the last line that says something, or the exit code. Safe to show."""
    text = _plain(output)
    total = _counts(text)
    took = f"in {seconds:.1f} s"
    if total is None and not _nothing_ran(text, total, code):
        return one_line(_last_telling(text, red=code != 0), _WIDTH) or f"exit {code} {took}"
    told = total is not None and (total.failed or total.errors or total.xpassed)
    ending = f" (exit {code})" if code and not told else ""
    return one_line(f"{_totals(total) if total else 'no tests ran'} {took}{ending}", _WIDTH)


def failing_part(output: str, budget: int) -> str:
    """What says why a check failed, in about `budget` characters: known runners' failures, else the output's head and tail."""
    text = _plain(output)
    parts = [part for runner in _RUNNERS if (part := runner.failing(text).strip("\n"))]
    return fold_output("\n\n".join([*parts, _ending(text, parts)]) if parts else text, budget)


def _ending(text: str, parts: list[str]) -> str:
    """The output's last lines, where no part holds them: what failed may be another command than the tests."""
    lines = [line for line in text.split("\n") if line][-_ENDING_LINES:]
    return "" if any(lines[-1] in part for part in parts) else "\n".join(lines)


def _counts(text: str) -> Counts | None:
    if not re.search(r"\d|[Nn]o test", text):  # no total without one of these, and most checks print neither
        return None
    found = [total for runner in _RUNNERS for total in runner.counts(text)]
    return reduce(add, found) if found else None


def _nothing_ran(text: str, total: Counts | None, code: int | None) -> bool:
    if total is not None:
        return total.ran == 0
    return bool(re.search(_NOTHING, text)) or (code == _NO_TESTS_COLLECTED and not text)


def _plain(output: str) -> str:
    """The whole output without colours and rewritten lines."""
    return fold_output(output, len(output) + 1)


def _totals(total: Counts) -> str:
    words = (
        (total.failed, "failed"),
        (total.errors, "error" if total.errors == 1 else "errors"),
        (total.passed, "passed"),
        (total.skipped, "skipped"),
        (total.xfailed, "xfailed"),
        (total.xpassed, "xpassed"),
    )
    said = [f"{count} {word}" for count, word in words if count]
    if not total.ran:
        return ", ".join(["no tests ran", *said, *([f"{total.deselected} deselected"] if total.deselected else [])])
    unit = f" {total.unit}{'s' if total.ran != 1 else ''}" if total.unit else ""
    return ", ".join([said[0].replace(" ", f"{unit} ", 1), *said[1:]])


def _last_telling(text: str, *, red: bool) -> str:
    worded = (line for line in reversed(text.split("\n")) if re.search(r"\w", line))
    lines = list(islice(worded, _LAST_LINES))[::-1]
    told = [line for line in lines if not re.match(_WRAPPER, line)]
    lines = told or (lines if red else [])
    telling = [line for line in lines if re.search(_TELLING, line)] if red else []
    return (telling or lines or [""])[-1]
