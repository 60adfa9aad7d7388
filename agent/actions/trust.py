"""Trust on first use: what the repository runs here is approved by a person, by content, before its first time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence

from agent.domain.config import Config, parse_config
from agent.domain.frontmatter import BadFileError
from agent.domain.todo import Item, State, parse_item, standings
from agent.domain.trust import Runs, runs_of
from agent.errors import AgentctlError
from agent.repository.programs import Untrusted
from agent.repository.repo import FOLDER, Repo
from agent.store import load


def refuse_untrusted(repo: Repo, item: Item | None = None) -> None:
    """Raise Untrusted, with all that waits for approval, where HEAD's settings, `item` or git would run something that nobody has approved."""
    config = _config(repo)
    needed = [*runs_of(config, [item] if item else [], repo.prefix), *repo.programs.runs()]
    if repo.programs.approvals.lacking(one.digest for one in needed):
        raise Untrusted(waiting(repo), repo.programs.approvals)


def everything(repo: Repo) -> tuple[Runs, ...]:
    """All that the list at HEAD (its settings and its open items) and git would run here."""
    head = repo.head()
    with contextlib.suppress(AgentctlError):  # what can't be read is told by whoever wants to run it
        if head is not None:
            memory = load(repo, head)
            known = standings(memory.notes)
            open_items = [item for item in memory.items if item.id not in known or known[item.id].state in (State.OPEN, State.BLOCKED)]
            return (*runs_of(memory.config, open_items, repo.prefix), *repo.programs.runs())
    return repo.programs.runs()


def waiting(repo: Repo) -> tuple[Runs, ...]:
    """What of it isn't approved."""
    runs = everything(repo)
    lacking = repo.programs.approvals.lacking(one.digest for one in runs)
    return tuple(one for one in runs if one.digest in lacking)


def approve(repo: Repo, runs: Iterable[Runs]) -> None:
    """Approve `runs` for this clone. Raises AgentctlError where that can't be kept."""
    repo.programs.approvals.add(one.digest for one in runs)


def approve_written(repo: Repo, files: Sequence[tuple[str, str]], before: Sequence[str | None]) -> None:
    """Approve what agentctl itself writes into `.agent/` (path inside it, text) on a person's word or in a step that was approved.

    `before` are the files' texts until now: what they named already is approved by this no more than it was. Where nothing can be kept, a
    person is asked later.
    """
    fresh: list[Runs] = []
    for (path, text), old in zip(files, before, strict=True):
        known = {one.digest for one in _named(path, old, repo.prefix)} if old is not None else set()
        fresh += [one for one in _named(path, text, repo.prefix) if one.digest not in known]
    with contextlib.suppress(AgentctlError, OSError):
        approve(repo, fresh)


def _named(path: str, text: str, under: str) -> tuple[Runs, ...]:
    try:
        if path == "config.yaml":
            return runs_of(parse_config(text), (), under)
        if path.startswith("todo/"):
            return runs_of(Config(), [parse_item(text, path)], under)
    except BadFileError:
        return ()
    return ()


def _config(repo: Repo) -> Config:
    data = repo.blobs([f"HEAD:{repo.prefix}{FOLDER}/config.yaml"])[0]
    return parse_config((data or b"").decode("utf-8", "replace"))
