"""Names that outlive a power cut: git syncs the files of objects and refs (core.fsync), and never the folders that name them."""

from __future__ import annotations

from agent.durable import sync_folder
from agent.repository.repo import Repo


def settle(repo: Repo, ref: str, commit: str) -> None:
    """Return when `ref` and the object of `commit`, to which it points, are on disk under their names. Packed ones are already."""
    for file in (repo.common_dir / "objects" / commit[:2] / commit[2:], repo.common_dir / ref):
        if file.exists():
            sync_folder(file.parent)
