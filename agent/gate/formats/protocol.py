"""What a known test runner is to the gate: how it counts, and where in its output it says what failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from agent.domain.shape import Count, Stored

_NAMED = 3000  # names that are kept of one check


class Counts(Stored, frozen=True):
    """What a runner says it did, in tests; in `unit`s where it counts something else (go: packages).

    `errors` are tests or files that could not be run; todo tests count as skipped.
    """

    runner: str
    passed: Count = 0
    failed: Count = 0
    errors: Count = 0
    skipped: Count = 0
    xfailed: Count = 0
    xpassed: Count = 0
    deselected: Count = 0
    unit: str = ""

    @property
    def ran(self) -> int:
        """How many really ran: skipped and deselected ones verified nothing."""
        return self.passed + self.failed + self.errors + self.xfailed + self.xpassed

    @property
    def collected(self) -> int:
        """How many the runner found."""
        return self.ran + self.skipped + self.deselected

    @property
    def red(self) -> int:
        """How many failed or could not be run."""
        return self.failed + self.errors

    def __add__(self, other: Counts) -> Counts:
        names = self.runner.split(", ")
        return Counts(
            runner=self.runner if other.runner in names else f"{self.runner}, {other.runner}",
            passed=self.passed + other.passed,
            failed=self.failed + other.failed,
            errors=self.errors + other.errors,
            skipped=self.skipped + other.skipped,
            xfailed=self.xfailed + other.xfailed,
            xpassed=self.xpassed + other.xpassed,
            deselected=self.deselected + other.deselected,
            unit=self.unit if self.unit == other.unit else "",
        )


class Tally(Stored, frozen=True):
    """What a check told of its tests: the counts, None where it told none, and names as far as it told all of them."""

    counts: Counts | None = None
    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    @classmethod
    def of(cls, counts: Counts | None, passed: tuple[str, ...], failed: tuple[str, ...]) -> Tally:
        """Names only where they are as many as were counted: of some nobody can say which are missing."""
        if counts is None:
            return cls()
        told = (passed if len(passed) == counts.passed <= _NAMED else (), failed if len(failed) == counts.red <= _NAMED else ())
        return cls(counts, *told)


UNTOLD = Tally()


class Runner(Struct, frozen=True):
    """One test runner. Both functions take output without colours and never raise.

    `counts` gives one value for each total that the runner printed (a run under tox prints several); `failing` the part
    that says what failed, "" where there is none.
    """

    name: str
    counts: Callable[[str], list[Counts]]
    failing: Callable[[str], str]


def number(words: Mapping[str, int], *names: str) -> int:
    """The sum of what `words` holds under `names`."""
    return sum(words.get(name, 0) for name in names)
