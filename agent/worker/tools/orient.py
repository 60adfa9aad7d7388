"""What somebody who has never seen a repository wants to know first, in a few lines whatever its size."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from agent.domain.text import left_out, one_line, plain

_KINDS = 8
_ENTRIES = 12
_CHANGED = 8
_LONGEST = 60  # characters of a path

# Where the authors of a repository expect others to begin: what they wrote for them, how it is built, where it starts.
_ENTRY = re.compile(
    r"readme(?:\..+)?|contributing(?:\..+)?|agents\.md|claude\.md|pyproject\.toml|setup\.py|package\.json|deno\.json|makefile|justfile|cmakelists\.txt"
    r"|go\.mod|cargo\.toml|pom\.xml|build\.gradle(?:\.kts)?|settings\.gradle(?:\.kts)?|build\.sbt|mix\.exs|gemfile|composer\.json|package\.swift"
    r"|.+\.sln|dockerfile|(?:docker-)?compose\.ya?ml|__main__\.py|manage\.py|(?:main|index|app|cli)\.(?:py|js|mjs|jsx|ts|tsx|go|rs|c|cc|cpp|java|kt|rb|php|swift)",
    re.IGNORECASE,
)


def orientation(files: Sequence[str], lately: Sequence[str]) -> list[str]:
    """Lines that tell of `files` (all paths): how many of each kind, where to begin, and what of them changed `lately` (the latest first)."""
    own = [path for path in files if not path.startswith(".agent/")]
    there = set(own)
    begin = sorted((path for path in own if _ENTRY.fullmatch(path.rpartition("/")[2])), key=lambda path: (path.count("/"), path))
    told = {
        "kinds": _kinds(own),
        "begin at": _named(begin, _ENTRIES),
        "changed lately": _named([path for path in lately if path in there], _CHANGED),
    }
    return [f"{name}: {text}" for name, text in told.items() if text]


def _kinds(files: Sequence[str]) -> str:
    counted = Counter(PurePosixPath(path).suffix or PurePosixPath(path).name for path in files).most_common()
    shown = ", ".join(f"{total:,} {_short(kind)}" for kind, total in counted[:_KINDS])
    others = sum(total for _, total in counted[_KINDS:])
    return shown + (f", {others:,} of other kinds" if others else "")


def _named(paths: Sequence[str], most: int) -> str:
    more = " " + left_out(f"{len(paths) - most:,} more") if len(paths) > most else ""
    return ", ".join(map(_short, paths[:most])) + more


def _short(path: str) -> str:
    shown = one_line(plain(path))
    return shown if len(shown) <= _LONGEST else "…" + shown[-_LONGEST:]
