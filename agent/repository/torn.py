"""A branch that a power cut tore: git then says "no commits yet", though its log still names them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from agent.durable import write_whole
from agent.errors import AgentctlError
from agent.repository.git import Git

_LOGGED = re.compile(rb"^[0-9a-f]{40,64} ([0-9a-f]{40,64}) ", re.MULTILINE)  # gitrepository-layout(5), logs: "OLD NEW who when<tab>why"


class Torn(Struct, frozen=True):
    """The branch at HEAD, whose ref or commit can't be read, and the last commit in its log that is whole with all that it reaches; None: none is."""

    ref: str
    last: str | None


def torn_branch(git: Git, git_dir: Path, common_dir: Path) -> Torn | None:
    """What is torn where HEAD names no commit that can be read; None for a branch that has no commit yet."""
    ref = branch_in(git_dir / "HEAD")
    if not ref or not ((common_dir / ref).exists() or git.status("rev-parse", "--verify", "--quiet", ref) == 0):
        return None
    logs = (common_dir / "logs" / ref, git_dir / "logs" / "HEAD")
    whole = (commit for log in logs for commit in _newest_first(log) if git.status("rev-list", "--objects", "--quiet", commit) == 0)
    return Torn(ref, next(whole, None))


def branch_in(head: Path) -> str:
    """The branch that the file names; `git symbolic-ref` won't say it of a torn one."""
    kind, _, ref = os.fsdecode(head.read_bytes()).strip().partition(" ")
    return ref if kind == "ref:" else ""


def _newest_first(log: Path) -> Iterator[str]:
    try:
        logged = _LOGGED.findall(log.read_bytes())
    except OSError:
        return
    for commit in reversed(logged):
        if commit.strip(b"0"):
            yield commit.decode()


def refusal(torn: Torn) -> AgentctlError:
    """What is said instead of "no commit yet"."""
    branch = torn.ref.removeprefix("refs/heads/")
    if torn.last is None:
        return AgentctlError(f"the branch {branch} can't be read, and its log names no whole commit", "git fsck --full, and a copy of the repository")
    return AgentctlError(
        f"the branch {branch} can't be read: a power cut may have torn it; the last whole commit in its log is {torn.last[:10]}",
        f"agentctl doctor --fix lets {branch} be there again; your files stay as they are",
    )


def mend(torn: Torn, common_dir: Path) -> str:
    """Let the branch be at the last whole commit; objects without a byte go, since git won't write them anew. Files stay. Gives a sentence."""
    if torn.last is None:
        raise refusal(torn)
    for thing in (common_dir / "objects").glob("[0-9a-f][0-9a-f]/*"):
        if thing.stat().st_size == 0:
            thing.unlink()
    write_whole(common_dir / torn.ref, f"{torn.last}\n".encode())
    return f"{torn.ref.removeprefix('refs/heads/')} is at {torn.last[:10]} again; what differs from it in your files is shown by git status"
