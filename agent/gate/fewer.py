"""Whether a check saw fewer tests than on the commit that the step began from, or more that fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from agent.domain.allow import WEAKER_TESTS
from agent.domain.text import one_line
from agent.gate.formats.protocol import Counts, Tally
from agent.gate.protocol import Baseline, CheckResult, Objection

_NAMED = 5
_NAME = 100
_COMMAND = 80


def fewer_tests(results: Sequence[CheckResult], before: Mapping[str, Baseline]) -> tuple[Objection, ...]:
    """One objection for each check that counted fewer collected or passed tests than `before`, or more that were skipped: from how many to how many."""
    told = ((result, _less(before[result.command].tally, result.tally)) for result in results if result.command in before)
    return tuple(
        Objection(f"`{_command(result)}` sees less than before the step: {less}{_gone(before[result.command].tally, result.tally)}.", WEAKER_TESTS)
        for result, less in told
        if less
    )


def not_redder(result: CheckResult, before: Baseline | None) -> bool:
    """Whether a red check was red before, and tells that no more of its tests fail than did, and none that didn't."""
    if result.ok or before is None or before.ok or before.tally.counts is None or result.tally.counts is None:
        return False
    new = set(result.tally.failed) - set(before.tally.failed) if before.tally.failed else set()
    return result.tally.counts.red <= before.tally.counts.red and not new and result.tally.counts.ran > 0


def redder(result: CheckResult, before: Baseline | None) -> str:
    """What a red check says beside what it said before the step: "was red before: 1 failed, now 3"; "" for one that was green or isn't known."""
    if before is None or before.ok:
        return ""
    then, now = before.tally.counts, result.tally.counts
    return f"was red before: {then.red} failed, now {now.red}" if then and now else "was red before"


def _less(before: Tally, now: Tally) -> str:
    then, counts = before.counts, now.counts
    if then is None or not then.ran:
        return ""
    if counts is None or counts.unit != then.unit:
        return f"it told of {then.ran} {then.unit or 'test'}s, and tells nothing of them now"
    return ", ".join(_changes(then, counts))


def _changes(then: Counts, now: Counts) -> list[str]:
    unit = f"{then.unit}s " if then.unit else ""
    down = ((then.collected, now.collected, "collected"), (then.passed, now.passed, "passed"))
    up = (
        (then.skipped, now.skipped, "skipped"),
        (then.deselected, now.deselected, "deselected"),
        (then.xfailed, now.xfailed, "expected to fail"),
    )
    return [
        *(f"{was} → {is_} {unit}{word}" for was, is_, word in down if is_ < was),
        *(f"{was} → {is_} {unit}{word}" for was, is_, word in up if is_ > was),
    ]


def _gone(before: Tally, now: Tally) -> str:
    if not before.passed or not now.counts or (now.counts.passed and not now.passed):
        return ""
    gone = sorted((Counter(before.passed) - Counter(now.passed)).elements())
    named = ", ".join(one_line(name, _NAME) for name in gone[:_NAMED])
    rest = len(gone) - _NAMED
    return f" (no longer passing: {named}{f' and {rest} more' if rest > 0 else ''})" if gone else ""


def _command(result: CheckResult) -> str:
    return one_line(result.command, _COMMAND)
