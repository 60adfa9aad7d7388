"""`finish`: the note for the reviewer and the letter to the next session."""

from __future__ import annotations

from agent.domain.chat import ToolSpec
from agent.domain.text import one_line
from agent.worker.protocol import Ending
from agent.worker.tools.base import TEXT, Args, Desk, Result, required_text, schema, text

_NOTE = 20_000
_LETTER = 12_000


class Finish:
    """A second call replaces the first."""

    spec = ToolSpec(
        "finish",
        "End the session. note: what was done and why, for the reviewer. letter: hand-off to the next session, which knows nothing else: "
        "where things stand, what comes next, what to watch out for.",
        schema({"note": TEXT, "letter": TEXT}),
    )

    def brief(self, args: Args) -> str:
        return one_line(text(args, "note").strip().partition("\n")[0])

    def run(self, args: Args, desk: Desk) -> Result:
        note, letter = required_text(args, "note", _NOTE), required_text(args, "letter", _LETTER)
        desk.note, desk.letter, desk.ending = note, letter, Ending.FINISHED
        return Result("Handed in; the checks decide.", shown="handed in")
