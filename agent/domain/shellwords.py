"""A shell command as words, without running anything."""

from __future__ import annotations

import shlex


def shell_words(command: str) -> list[str]:
    """The words of `command` as a shell splits them, operators by themselves; where a quote is left open, by its blanks."""
    words = shlex.shlex(command, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    try:
        return list(words)
    except ValueError:  # the shell reports that itself
        return command.split()
