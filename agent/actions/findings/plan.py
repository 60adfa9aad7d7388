"""The list: links between items, notes without an item, and what checks them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator

from agent.actions.findings.finding import Finder, Finding, Look, listed
from agent.domain.names import Outcome
from agent.domain.text import one_line
from agent.domain.todo import Standing, State, check_links
from agent.errors import AgentctlError

_PLAIN = re.compile(r"[A-Za-z0-9_.+/-]+")
# What the shell itself understands as a command's first word (`compgen -bk`); no program needs to be there for it.
_WORDS = """
if then else elif fi case esac for select while until do done in function time coproc . alias bg bind break builtin caller cd command
compgen complete compopt continue declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let
local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset
ulimit umask unalias unset wait
"""
_SHELL = frozenset(_WORDS.split())


def broken_links(look: Look) -> Iterator[Finding]:
    """An `after` that names nothing, or a circle."""
    try:
        check_links(look.items)
    except AgentctlError as error:
        yield Finding("error", error.message, error.hint)


def orphans(look: Look) -> Iterator[Finding]:
    """Notes of items that aren't there any more."""
    known = {item.id for item in look.items}
    names = sorted({name.item for name in look.notes if name.outcome is not Outcome.LETTER} - known)
    if names:
        yield Finding("info", f"there are notes of items that aren't in the list any more: {listed(names)}", "nothing to do: their history stays")


def no_checks(look: Look) -> Iterator[Finding]:
    """Nothing holds a step to account."""
    if look.config is not None and look.committed and not look.config.checks and not any(item.checks for item in look.items):
        yield Finding("warning", "there are no checks: a step lands on the worker's word", "add `checks:` to .agent/config.yaml and commit")


def missing_programs(look: Look) -> Iterator[Finding]:
    """Checks that can't be run here."""
    for command, place in _commands(look).items():
        word = command.split(maxsplit=1)[0]
        if _PLAIN.fullmatch(word) and word not in _SHELL and not _found(look, word):
            text = f"the check `{one_line(command, 80)}` can't be run: {word} isn't there, or isn't executable"
            yield Finding("error", text, f"install it, or mend `checks:` in {place} and commit")


def _commands(look: Look) -> dict[str, str]:
    """The commands that steps will run, each with the file that names it."""
    found = dict.fromkeys(look.config.checks if look.config else (), ".agent/config.yaml")
    for item in look.items:
        if look.standings.get(item.id, Standing()).state in (State.OPEN, State.BLOCKED):
            found |= {command: f".agent/{item.path}" for command in item.checks if command.strip() and command not in found}
    return found


def _found(look: Look, word: str) -> bool:
    if "/" in word:
        return os.access(look.repo.root / word, os.X_OK)
    return shutil.which(word, path=look.environment.get("PATH")) is not None


PLAN: tuple[Finder, ...] = (broken_links, orphans, no_checks, missing_programs)
