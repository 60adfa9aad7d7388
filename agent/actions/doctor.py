"""A check-up of `.agent/` and of the repository, each finding with its mend."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from agent.actions.findings.confinement import CONFINEMENT
from agent.actions.findings.files import FILES
from agent.actions.findings.finding import Finder, Finding, Look
from agent.actions.findings.landed import LANDED, mismatches
from agent.actions.findings.leftovers import LEFTOVERS
from agent.actions.findings.machine import MACHINE
from agent.actions.findings.plan import PLAN
from agent.actions.findings.state import STATE
from agent.errors import AgentctlError
from agent.repository.repo import Repo

__all__ = ["Finding", "Fixed", "doctor", "fix_all", "mismatches"]

_FINDERS: tuple[Finder, ...] = (*STATE, *FILES, *PLAN, *MACHINE, *CONFINEMENT, *LEFTOVERS, *LANDED)
_WORST_FIRST = ("error", "warning", "info")


def doctor(repo: Repo, environment: Mapping[str, str] | None = None) -> tuple[Finding, ...]:
    """All findings, the worst first. Changes nothing, and raises nothing whatever `.agent/` holds."""
    look = Look(repo, os.environ if environment is None else environment)
    found = [finding for finder in _FINDERS for finding in _safely(finder, look)]
    once: dict[str, Finding] = {}
    for finding in found:
        once.setdefault(finding.text, finding)  # the first that says it: it may know a fix
    return tuple(sorted(once.values(), key=lambda finding: _WORST_FIRST.index(finding.level)))


def _safely(finder: Finder, look: Look) -> Iterator[Finding]:
    """What a finder says; where it can't look, that is a finding too."""
    try:
        yield from finder(look)
    except AgentctlError as error:
        yield Finding("error", error.message, error.hint)
    except OSError as error:
        yield Finding("error", f"{error.filename or 'a file'} can't be read: {error.strerror}", "look at its owner and mode: ls -l")


class Fixed(Struct, frozen=True):
    """What became of a finding with a fix: `told` in one sentence, `ok` False where it couldn't be mended."""

    finding: Finding
    told: str
    ok: bool


def fix_all(findings: Iterable[Finding]) -> tuple[Fixed, ...]:
    """Mend what can be mended safely; one that can't be doesn't keep the others from it."""
    return tuple(_fix(finding) for finding in findings if finding.fix)


def _fix(finding: Finding) -> Fixed:
    try:
        return Fixed(finding, finding.fix() if finding.fix else "", ok=True)
    except AgentctlError as error:
        return Fixed(finding, f"{error.message}: {error.hint}".removesuffix(": "), ok=False)
