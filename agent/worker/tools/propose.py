"""`propose`: a follow-up item."""

from __future__ import annotations

from agent.domain.chat import ToolSpec
from agent.domain.progress import Proposed
from agent.domain.text import one_line
from agent.worker.tools.base import TEXT, Args, Desk, Result, failure, required_text, required_title, schema, text
from agent.worker.tools.remember import TITLE

_TEXT = 8000
_CHECK = 1000


class Propose:
    """An item with the same title replaces the one of before."""

    spec = ToolSpec(
        "propose",
        "Add an item to the todo list. text: what done means. check: a one-line command that exits 0 once it is done.",
        schema({"title": TEXT, "text": TEXT}, {"check": TEXT}),
    )

    def brief(self, args: Args) -> str:
        return one_line(text(args, "title"))

    def run(self, args: Args, desk: Desk) -> Result:
        check = required_text(args, "check", _CHECK) if "check" in args else ""
        if "\n" in check or "\r" in check:
            return failure("`check` has more than one line.", "Join commands with && or put them into a script.")
        item = Proposed(required_title(args, TITLE), required_text(args, "text", _TEXT), check)
        desk.proposals[:] = [*(kept for kept in desk.proposals if kept.title != item.title), item]
        return Result(f"Noted as item {len(desk.proposals)} of this session.", shown="noted")
