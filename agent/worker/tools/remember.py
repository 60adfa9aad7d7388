"""`remember`: a lesson for later sessions."""

from __future__ import annotations

from agent.domain.chat import ToolSpec
from agent.domain.progress import Remembered
from agent.domain.text import one_line
from agent.worker.tools.base import TEXT, Args, Desk, Result, required_text, required_title, schema, text

TITLE = 120
_TEXT = 4000


class Remember:
    """A lesson with the same title replaces the one of before."""

    spec = ToolSpec(
        "remember",
        "Keep a lesson for all later sessions: a lasting fact about this repository that cost effort to learn.",
        schema({"title": TEXT, "text": TEXT}),
    )

    def brief(self, args: Args) -> str:
        return one_line(text(args, "title"))

    def run(self, args: Args, desk: Desk) -> Result:
        lesson = Remembered(required_title(args, TITLE), required_text(args, "text", _TEXT))
        desk.lessons[:] = [*(kept for kept in desk.lessons if kept.title != lesson.title), lesson]
        return Result("Kept; it lands with this step.", shown="kept")
