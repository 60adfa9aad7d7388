"""The commit message of an undo: what it takes back, and why."""

from __future__ import annotations

from collections.abc import Sequence

from agent.domain.message import reason_of
from agent.domain.todo import tidy_text

_SUBJECT = 72


def undo_message(commits: Sequence[tuple[str, str]], because: str) -> str:
    """The message for undoing `commits`, each with its id and its subject; `reason_of` gives `written_reason(because)` back from it.

    For one commit it reads as git's own revert does, so that whoever looks for reverts finds it.
    """
    subjects = [subject for _, subject in commits]
    subject = f'Revert "{subjects[0]}"' if len(commits) == 1 else _several(subjects)
    reverts = "\n".join(f"This reverts commit {commit}." for commit, _ in commits)
    return "\n\n".join(part for part in (subject, written_reason(because), reverts) if part) + "\n"


def written_reason(because: str) -> str:
    """`because` as the message holds it: tidied; marked with `| ` where a line of it would pass for a trailer or for git's own words."""
    reason = tidy_text(because).strip()
    if not reason or reason_of(f"Revert\n\n{reason}") == reason:
        return reason
    return "\n".join(f"| {line}".rstrip() for line in reason.split("\n"))


def _several(subjects: Sequence[str]) -> str:
    subject = f"Revert {len(subjects)} commits: {', '.join(one.partition(':')[0] for one in subjects)}"
    return subject if len(subject) <= _SUBJECT else subject[: _SUBJECT - 1].rstrip() + "…"
