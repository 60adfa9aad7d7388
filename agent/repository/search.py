"""Lines that match an expression: git finds them by the names of files, and those count that are there by handles too."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import Struct

from agent.beneath import Beneath
from agent.repository.git import Git, GitError

_FIELDS = 3  # path, line, text
_EACH = 1_000  # lines of one file; nobody is shown more
_LONGEST = 60.0  # seconds; some expressions try every way to match each line


class Hit(Struct, frozen=True):
    """A line that a search found."""

    path: str
    line: int
    text: str


def grep(git: Git, work: Beneath, pattern: str, where: str, glob: str, without: str) -> Iterator[Hit]:
    """Lines of text files below `where` ("" or a path relative to the top) that match the expression (Perl's kind), at most 1,000 of each file.

    Raises GitError for an expression that is none, or takes too long. Left out are files whose paths begin with `without`, and lines whose file can't be reached without a link, or has changed since.
    """
    spec = f":(glob){where.rstrip('/') + '/' if where else ''}{glob if '/' in glob else '**/' + glob}" if glob else where
    args = [f"--max-count={_EACH}", "-n", "-z", "-I", "--untracked", "--no-color", "--full-name", "-e", pattern, "--", *([spec] if spec else [])]
    out = _grep(git, args, {"GIT_LITERAL_PATHSPECS": "0" if glob else "1"})
    told = (line.split("\0", _FIELDS - 1) for line in os.fsdecode(out).split("\n"))
    hits = (Hit(parts[0], int(parts[1]), parts[2]) for parts in told if len(parts) == _FIELDS and not parts[0].startswith(without))
    for path, found in groupby(hits, key=lambda hit: hit.path):
        yield from _reached(work, path, found)


def _reached(work: Beneath, path: str, hits: Iterator[Hit]) -> Iterator[Hit]:
    wanted = next(hits)
    with contextlib.suppress(OSError, StopIteration), work.reading(path) as file:
        for number, line in enumerate(file, 1):
            while number == wanted.line:
                if line.removesuffix(b"\n") == os.fsencode(wanted.text):
                    yield wanted
                wanted = next(hits)


def _grep(git: Git, args: Sequence[str], env: Mapping[str, str]) -> bytes:
    try:
        return git.run("grep", "-P", *args, ok=(0, 1), env=env, timeout=_LONGEST)
    except GitError as error:
        if "max-count" in error.said:  # git before 2.38
            return _grep(git, [arg for arg in args if not arg.startswith("--max-count=")], env)
        if "USE_LIBPCRE" not in error.said:
            raise
        return git.run("grep", "-E", *args, ok=(0, 1), env=env, timeout=_LONGEST)  # this git was built without Perl's expressions
