"""`ask`: a question that only a person can answer."""

from __future__ import annotations

from agent.domain.chat import ToolSpec
from agent.domain.text import one_line
from agent.worker.protocol import Ending
from agent.worker.tools.base import TEXT, Args, Desk, Result, required_text, schema, text

_QUESTION = 4000


class Ask:
    """The item becomes blocked, with the question in its note."""

    spec = ToolSpec("ask", "Ask a person what only they can decide. Ends the session; the item waits for the answer.", schema({"question": TEXT}))

    def brief(self, args: Args) -> str:
        return one_line(text(args, "question"))

    def run(self, args: Args, desk: Desk) -> Result:
        desk.note, desk.letter = required_text(args, "question", _QUESTION), ""
        desk.ending = Ending.ASKED
        return Result("The question is left for a person; this session ends here.", shown="a person is asked")
