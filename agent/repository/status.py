"""What `git status` says."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct


class Status(Struct, frozen=True):
    """What `git status` says of the work tree, as far as it was asked; paths are relative to the top, an untracked or ignored folder ends in `/`.

    `moved` are submodules that stand elsewhere; `index` tells the index that was there before git looked from any other.
    """

    head: str | None
    branch: str | None
    staged: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    unmerged: tuple[str, ...] = ()
    untracked: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    index: tuple[int, int, int] | None = None

    @property
    def changed(self) -> tuple[str, ...]:
        """All tracked paths, or staged ones, that aren't as in HEAD."""
        return (*self.staged, *self.modified, *self.unmerged, *self.moved)


def read_status(lines: Sequence[str]) -> Status:
    """The status in the NUL-ended fields of `git status --porcelain=v2 --branch -z`."""
    head: str | None = None
    branch: str | None = None
    found: dict[str, list[str]] = {"staged": [], "modified": [], "unmerged": [], "untracked": [], "moved": [], "ignored": []}
    for line in lines:
        if line.startswith("# branch.oid ") and not line.endswith("(initial)"):
            head = line.removeprefix("# branch.oid ")
        elif line.startswith("# branch.head ") and not line.endswith("(detached)"):
            branch = line.removeprefix("# branch.head ")
        elif line.startswith("1 "):
            _, states, module, _, _, _, _, _, path = line.split(" ", 8)
            if states[0] != ".":
                found["staged"].append(path)
            if states[1] != ".":  # what goes on inside a submodule is not the step's
                found["modified" if module == "N..." else "moved"].append(path)
        elif line.startswith("u "):
            found["unmerged"].append(line.split(" ", 10)[10])
        elif line.startswith("? "):
            found["untracked"].append(line[2:])
        elif line.startswith("! "):
            found["ignored"].append(line[2:])
    told = {key: tuple(paths) for key, paths in found.items()}
    return Status(head, branch, told["staged"], told["modified"], told["unmerged"], told["untracked"], told["moved"], told["ignored"])
