"""The names of tests in a runner's output, where it was asked to print them (`-v` and its kind), or prints those that failed."""

from __future__ import annotations

import re

# One row for each way of writing; the word says how the test ended.
_LINES = (
    r"(?m)^(?:"
    r"(?P<pytest>\S+::\S[^\n]*?) (?P<pytest_word>PASSED|FAILED|ERROR)(?: +\[ *\d+%\])?"
    r"|(?:\[gw\d+\] \[ *\d+%\] )?(?P<short_word>PASSED|FAILED|ERROR) (?P<short>\S+::\S[^\n]*?)(?: - [^\n]*)?"
    r"|(?P<unittest>\w+ \([\w.]+\))(?:\n[^\n]*?)? \.\.\. (?P<unittest_word>ok|FAIL|ERROR)"
    r"|(?P<red_word>FAIL|ERROR): (?P<red>\w+ \([\w.]+\))"
    r"| *--- (?P<go_word>PASS|FAIL): (?P<go>\S+) \([\d.]+s\)"
    r"|test (?P<cargo>\S+)(?: - should panic)? \.\.\. (?P<cargo_word>ok|FAILED)"
    r"| +(?P<nextest_word>PASS|FAIL) \[ *[\d.]+s\] +(?:\( *\d+/\d+\) +)?(?P<nextest>\S[^\n]*?)"
    r"| *(?P<js_word>[✓✔√✕✖×]) (?P<js>\S[^\n]*?)(?: +\(?[\d.]+ ?m?s\)?)?"
    r") *$"
)
_PASSED = frozenset({"PASSED", "PASS", "ok", "✓", "✔", "√"})


def told_names(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the tests that passed and of those that failed, sorted; `text` is without colours."""
    outcome: dict[str, bool] = {}
    for match in re.finditer(_LINES, text):
        named = [(key, value) for key, value in match.groupdict().items() if value is not None]
        word = next(value for key, value in named if key.endswith("_word"))
        name = next(value for key, value in named if not key.endswith("_word"))
        outcome[name] = outcome.get(name, True) and word in _PASSED
    return tuple(sorted(name for name, ok in outcome.items() if ok)), tuple(sorted(name for name, ok in outcome.items() if not ok))
