"""What no step may do, whatever the checks say: paths that aren't its own, names that break a checkout, sizes nobody reviews."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from agent.domain.change import GITLINK, Change
from agent.domain.text import first_of, one_line

_NAMED = 5  # paths that a finding names before it counts the rest
_PATH_WIDTH = 120

# Microsoft, "Naming Files, Paths, and Namespaces": device names hold with any extension, in any case.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:\.|$)", re.IGNORECASE)
_FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ]$')

# Nobody reads their lines, so they don't count against what a person can review.
LOCK_FILES = frozenset(
    {
        "Cargo.lock",
        "Gemfile.lock",
        "Pipfile.lock",
        "bun.lock",
        "composer.lock",
        "flake.lock",
        "go.sum",
        "npm-shrinkwrap.json",
        "package-lock.json",
        "pdm.lock",
        "pnpm-lock.yaml",
        "poetry.lock",
        "uv.lock",
        "yarn.lock",
    }
)
"""What package managers write of exact versions."""


class SizeLimits(Struct, frozen=True):
    """How large a step may be: bytes of one file that it writes, and lines added and deleted in all (lock files don't count)."""

    file_bytes: int
    changed_lines: int


def findings(changes: Sequence[Change], limits: SizeLimits, memory: str = ".agent") -> tuple[str, ...]:
    """One sentence for each rule that `changes` break, with the paths and what to do; empty where all is well.

    `memory` is the path of agentctl's own folder, relative to the repository's top.
    """
    found = (
        _memory_touched(changes, memory),
        _inside_git(changes),
        _nested_repositories(changes),
        _names_windows_refuses(changes),
        _too_large(changes, limits.file_bytes),
        _too_many_lines(changes, limits.changed_lines),
    )
    return tuple(finding for finding in found if finding)


def _memory_touched(changes: Sequence[Change], memory: str) -> str:
    # A checkout on macOS or Windows takes `.Agent` for `.agent`.
    own = memory.casefold()
    paths = [change.path for change in changes if f"{change.path.casefold()}/".startswith(f"{own}/")]
    if not paths:
        return ""
    return (
        f"{_list(paths)} changed, but only agentctl writes under {memory}/: put it back as it was; "
        "what you want kept there goes through your tools for lessons, follow-up items and the final note."
    )


def _inside_git(changes: Sequence[Change]) -> str:
    paths = [change.path for change in changes if any(_is_git_folder(part) for part in change.path.split("/"))]
    return f"{_list(paths)} lies in a git directory, which no step may write: take it away again." if paths else ""


def _is_git_folder(part: str) -> bool:
    """Whether a file system may take `part` for `.git`: any case, the DOS short name, trailing dots and spaces (git's `protectNTFS`)."""
    return part.casefold().rstrip(". ") in {".git", "git~1"}


def _nested_repositories(changes: Sequence[Change]) -> str:
    paths = [change.path for change in changes if change.mode == GITLINK]
    if not paths:
        return ""
    return (
        f"{_list(paths)} is a repository of its own (a submodule or a nested clone), whose pointer a step may not move: "
        "leave it at the commit it had, or remove the folder if you made it."
    )


def _names_windows_refuses(changes: Sequence[Change]) -> str:
    paths = [change.path for change in changes if change.kind == "added" and any(_unportable(part) for part in change.path.split("/"))]
    return f"{_list(paths)} can't be checked out on Windows (a reserved name or character): choose another name." if paths else ""


def _unportable(part: str) -> bool:
    return bool(_DEVICE.match(part) or _FORBIDDEN.search(part))


def _too_large(changes: Sequence[Change], limit: int) -> str:
    large = [f"{change.path} ({_size(change.bytes)})" for change in changes if change.kind != "deleted" and change.bytes > limit]
    if not large:
        return ""
    return (
        f"{_list(large)} is over the limit of {_size(limit)} for one file: "
        "don't commit build output or data; generate it when it is needed, or make it smaller."
    )


def _too_many_lines(changes: Sequence[Change], limit: int) -> str:
    counted = [change for change in changes if change.path.rsplit("/", 1)[-1] not in LOCK_FILES]
    total = sum(change.lines for change in counted)
    if total <= limit:
        return ""
    largest = max(counted, key=lambda change: change.lines)
    return (
        f"The step changes {total:,} lines, over the limit of {limit:,} that a person can review, most of them in "
        f"{_shown(largest.path)} ({largest.lines:,}): do a smaller part of the item and propose the rest as follow-up items."
    )


def _list(paths: Sequence[str]) -> str:
    return first_of(paths, _NAMED, _PATH_WIDTH)


def _shown(path: str) -> str:
    return one_line(path, _PATH_WIDTH)


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 100_000 else f"{count:,} bytes"  # noqa: PLR2004  # where a tenth of a MB begins to say something
