"""The gate's verdict: what agentctl itself saw between the worker's "finished" and the commit."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from agent.domain.shape import Stored
from agent.gate.formats.protocol import UNTOLD, Tally


class CheckResult(Struct, frozen=True):
    """One check command's run. `output` is without keys, folded to a budget and safe to show; `summary` is one line such as "214 passed in 4.1 s"."""

    command: str
    ok: bool
    summary: str
    output: str
    seconds: float
    missing: bool = False  # the program isn't there: a mistake in the config, not in the work
    tally: Tally = UNTOLD


class Baseline(Stored, frozen=True):
    """What a check said of the commit that a step begins from."""

    ok: bool
    tally: Tally = UNTOLD


class Objection(Struct, frozen=True):
    """What the gate holds against a step that no check command told, in one sentence; `word` of an item's `allow:` lets it through, "" none does."""

    text: str
    word: str = ""

    @property
    def told(self) -> str:
        """The sentence, with the way round it that a person has."""
        return f"{self.text} Only a person may allow it: `allow: [{self.word}]` in the item." if self.word else self.text


class Verdict(Struct, frozen=True):
    """All that was verified. `findings` are refusals that no check command makes, one sentence each.

    `allowed` are those that the item let through, for the reviewer; `spared` the commands that may be red.
    """

    checks: tuple[CheckResult, ...]
    findings: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    spared: frozenset[str] = frozenset()

    @property
    def ok(self) -> bool:
        return not self.findings and not self.red

    @property
    def red(self) -> tuple[CheckResult, ...]:
        """The checks that keep the step from landing."""
        return tuple(check for check in self.checks if not check.ok and check.command not in self.spared)


def sorted_out(objections: Collection[Objection], allow: Collection[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is refused, and what the words of `allow` let through."""
    refused = tuple(one.told for one in objections if one.word not in allow)
    return refused, tuple(f"allowed by {one.word}: {one.text}" for one in objections if one.word in allow)
