"""One error type with a message and a mend, and the exit codes that scripts may rely on."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What a command's exit status says; stable."""

    OK = 0
    ERROR = 1
    USAGE = 2
    NOTHING_LEFT = 3
    GATE_FAILED = 4
    LIMIT = 5
    PERSON_NEEDED = 6
    BUG = 70
    UNAVAILABLE = 75
    INTERRUPTED = 130
    TERMINATED = 143


class AgentctlError(Exception):
    """Something expected went wrong: one sentence says what, `hint` says what to type."""

    def __init__(self, message: str, hint: str = "", code: Exit = Exit.ERROR) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code

    def __str__(self) -> str:
        return self.message
