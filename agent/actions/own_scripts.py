"""The scripts of a commit that only a person changes: those that checks, setup and hooks of git run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePosixPath

from agent.domain.change import Change
from agent.gate.scripts import HOOKS, LONGEST, called, called_by
from agent.gate.settled import Settled
from agent.repository.repo import Repo


def settled_at(repo: Repo, base: str, commands: Sequence[str], changes: Sequence[Change]) -> Settled:
    """What a step with `changes` to `base` leaves alone; scripts aren't looked for where nothing that was there has changed."""
    hooks, outside = _hooks(repo)
    if all(change.kind == "added" for change in changes):
        return Settled(hooks=hooks)

    def read(paths: Sequence[str]) -> list[str | None]:
        names = [f"{base}:{path}" for path in paths]
        small = [
            name for name, fact in zip(names, repo.git.objects.facts(names), strict=True) if fact and fact.kind == "blob" and fact.size <= LONGEST
        ]
        texts = {name: (data or b"").decode("utf-8", "replace") for name, data in zip(small, repo.blobs(small), strict=True)}
        return [texts.get(name) for name in names]

    places = [under + name for under in dict.fromkeys(("", repo.prefix)) for name in HOOKS] + ([hooks] if hooks else [])
    listed = os.fsdecode(repo.git.run("ls-tree", "-r", "-z", "--full-tree", "--name-only", base, "--", *places)).split("\0")[:-1]
    carried = [(path, text) for path, text in zip(listed, read(listed), strict=True) if text is not None]
    return Settled(called(commands, repo.prefix, read), called_by([*carried, *outside], repo.prefix, read), hooks)


def _hooks(repo: Repo) -> tuple[str, list[tuple[str, str]]]:
    """The folder of the hooks that git starts, from the top, "" where that is not in the work tree; and the texts of its hooks."""
    folder = repo.programs.hooks_folder()
    try:
        place = PurePosixPath(os.path.realpath(folder)).relative_to(os.path.realpath(repo.top)).as_posix()
    except ValueError:
        place = ""
    inside = "" if place in ("", ".") or place.split("/")[0] == ".git" else place.removesuffix("/_")  # husky's own, before the person's
    return inside, [("", file.read_text("utf-8", "replace")) for file in repo.programs.hook_files()]
