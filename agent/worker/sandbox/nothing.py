"""No sandbox, on the person's word: a command can do whatever its user can."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from agent.domain.config import NO_SANDBOX
from agent.worker.sandbox.protocol import Attempt, Confines, Launch


class Nothing:
    """Nothing is kept from a command but the variables that it isn't given."""

    name = NO_SANDBOX
    told = NO_SANDBOX
    gaps: Mapping[Attempt, str] = dict.fromkeys(Attempt, "commands run without a sandbox and can do whatever you can")
    programs: Sequence[Path] = ()

    def absent(self) -> str:
        return ""

    def wrap(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, confines: Confines) -> Launch:  # noqa: ARG002  # sandboxes have one shape
        return Launch(argv, env)
