"""`write`: a whole file."""

from __future__ import annotations

import shlex

from agent.domain.chat import ToolSpec
from agent.domain.text import one_line, plain
from agent.worker import files
from agent.worker.files import Text
from agent.worker.tools.base import TEXT, Args, Desk, Result, failure, schema, text
from agent.worker.tools.placeholders import placeholder

_SMALL = 40
_SHARE_KEPT = 0.4


class Write:
    """New files are UTF-8 as given; an existing one keeps its encoding, BOM and line ends."""

    spec = ToolSpec(
        "write",
        "Create a file, with its folders, or replace all of its content. To change part of a file use edit.",
        schema({"path": TEXT, "content": TEXT}),
    )

    def brief(self, args: Args) -> str:
        return one_line(text(args, "path"))

    def run(self, args: Args, desk: Desk) -> Result:
        path, content = text(args, "path"), text(args, "content")
        place = desk.workspace.writable(path)
        data = desk.workspace.load(place) if desk.workspace.root.look(place.path) else None
        before = None if data is None else files.as_text(path, data)
        if refused := _refused(path, content, before):
            return refused
        after = files.written(content, before)
        if after == data:
            return Result(plain(f"{path} holds just that already. Nothing changed."), shown="already applied")
        desk.workspace.save(place, after)
        lines = len(Text(content).lines)
        said = f"{'made' if data is None else 'replaced'}, {lines} line{'' if lines == 1 else 's'}"
        return Result(plain(f"{path}: {said}."), shown=said)


def _refused(path: str, content: str, before: Text | None) -> Result | None:
    old = before.lines if before else []
    delete = f"`run` rm {shlex.quote(path)}"
    if old and not content:
        return failure(f"{path} would be empty.", f"To delete it: {delete}")
    if mark := placeholder(content, before.normal if before else ""):
        return failure(f"`content` holds {mark!r}, which would stand in the file as it is.", "Give the whole text, or use edit. Nothing was changed.")
    lines = len(Text(content).lines)
    if len(old) > _SMALL and lines < len(old) * _SHARE_KEPT:
        return failure(
            f"{path} would shrink from {len(old)} lines to {lines}.",
            f"Change a part with edit; if so much is to go, delete the file first ({delete}), then write it. Nothing was changed.",
        )
    return None
