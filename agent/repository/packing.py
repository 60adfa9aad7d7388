"""Loose objects go into packs, once there are as many as git would not leave after a commit of the person's.

Each snapshot of a step's work is some objects that nothing names any more when the step has landed; git keeps such ones for two weeks.
"""

from __future__ import annotations

from pathlib import Path

from agent.durable import sync_folder
from agent.repository.git import gist
from agent.repository.repo import Repo

_FOLDERS = 256
_SAMPLE = "17"  # the folder by which git estimates how many there are (builtin/gc.c, too_many_loose_objects)
_USUAL = 6700  # gc.auto, where nobody has set it
_ORDER = (("maintenance", "run", "--task=loose-objects", "--quiet"), ("prune-packed", "--quiet"), ("maintenance", "run", "--auto", "--quiet"))


def crowded(repo: Repo) -> bool:
    """Whether so many objects are loose that git would pack them after a commit of the person's, by their `gc.auto` and `maintenance.auto`.

    Nobody is asked before there are as many as git packs where nothing is set.
    """
    here = _objects(repo) / _SAMPLE
    loose = len(list(here.iterdir())) if here.is_dir() else 0
    if loose <= -(-_USUAL // _FOLDERS):
        return False
    most = _setting(repo, "int", "gc.auto", str(_USUAL))
    if not most.isdigit() or _setting(repo, "bool", "maintenance.auto", "true") != "true":
        return False
    return 0 < -(-int(most) // _FOLDERS) < loose


def _setting(repo: Repo, kind: str, name: str, usual: str) -> str:
    return repo.git.keep_house("config", f"--type={kind}", f"--default={usual}", "--get", name)[1]


def _objects(repo: Repo) -> Path:
    return repo.common_dir / "objects"


def pack(repo: Repo) -> str:
    """Put all loose objects into a pack, those too that nothing names, and then let git do what else it finds due; gives why it can't, "" where it could.

    Packing what is loose reads no history, so it takes seconds in any repository. Whatever ends this, an object is in the pack before it goes from
    where it was. Raises OSError where nothing can be written, and GitError where a signal ended git.
    """
    for args in _ORDER:
        status, said = repo.git.keep_house(*args)
        if status:
            return gist(said) or f"exit {status}"
        sync_folder(_objects(repo) / "pack")
    return ""
