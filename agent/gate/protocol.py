"""The gate's verdict: what agentctl itself saw between the worker's "finished" and the commit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckResult:
    """One check command's run. `output` is without keys, folded to a budget and safe to show; `summary` is one line such as "214 passed in 4.1 s"."""

    command: str
    ok: bool
    summary: str
    output: str
    seconds: float
    missing: bool = False  # the program isn't there: a mistake in the config, not in the work


@dataclass(frozen=True)
class Verdict:
    """All that was verified. `findings` are refusals that no check command makes, one sentence each."""

    checks: tuple[CheckResult, ...]
    findings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.findings and all(check.ok for check in self.checks)
