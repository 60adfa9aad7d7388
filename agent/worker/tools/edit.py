"""`edit`: exact text, replaced where it stands."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from agent.domain.chat import ToolSpec
from agent.domain.text import one_line, plain
from agent.worker import files
from agent.worker.files import Refusal, Text
from agent.worker.tools.base import FLAG, TEXT, Args, Desk, Result, flag, schema, text
from agent.worker.tools.mismatch import applied, explain
from agent.worker.tools.placeholders import placeholder

_LINES_NAMED = 20


class Edit:
    """Matched against the file as it is now, whatever changed since it was read. A mismatch writes nothing, and is explained, never guessed over."""

    spec = ToolSpec(
        "edit",
        "Replace old by new in a file. old: its exact text with indentation, without the NUMBER│, long enough to be found only once (or all: true).",
        schema({"path": TEXT, "old": TEXT, "new": TEXT}, {"all": FLAG}),
    )

    def brief(self, args: Args) -> str:
        return one_line(text(args, "path"))

    def run(self, args: Args, desk: Desk) -> Result:
        path, old, new = text(args, "path"), text(args, "old"), text(args, "new")
        _refuse_senseless(old, new)
        place = desk.workspace.writable(path)
        data = desk.workspace.load(place)
        content = files.as_text(path, data)
        if applied(content, old, new):
            return _already(path, content, new)
        spans = _wanted(path, content, old, every=flag(args, "all"))
        changed = content.replaced(spans, new)
        if changed == data:
            return _already(path, content, new)
        if changed == content.codec.bom:
            raise Refusal(f"{path} would be empty.", f"To delete it: `run` rm {shlex.quote(path)}")
        if mark := placeholder(new, content.normal):
            raise Refusal(f"`new` holds {mark!r}, which would stand in the file as it is.", "Give the text itself. Nothing was changed.")
        desk.workspace.save(place, changed)
        where = f"{len(spans)} places, in lines" if len(spans) > 1 else "line"
        said = f"changed at {where} {_lines(content, spans)}"
        return Result(plain(f"{path}: {said}."), shown=said)


def _refuse_senseless(old: str, new: str) -> None:
    if not old:
        raise Refusal("`old` is empty.", "Quote the text to replace; write makes a new file.")
    if old == new:
        raise Refusal("`old` and `new` are the same.", "Line ends are kept by edit; sed in `run` changes them.")


def _wanted(path: str, content: Text, old: str, *, every: bool) -> list[tuple[int, int]]:
    """The spans to replace, apart from each other."""
    spans = content.find(old)
    if not spans:
        raise Refusal(f"`old` is not in {path}. {explain(content, old)}", "Nothing was changed.")
    if len(spans) > 1 and not every:
        hint = "Quote more lines around the one that is meant, or give all: true. Nothing was changed."
        raise Refusal(f"`old` has {len(spans)} matches in {path}, in lines {_lines(content, spans)}.", hint)
    return [span for number, span in enumerate(spans) if not number or span[0] >= spans[number - 1][1]]


def _already(path: str, content: Text, new: str) -> Result:
    where = content.find(new)[:1]
    at = f" at line {_lines(content, where)}" if where else ""
    return Result(plain(f"Already applied: {path} holds `new`{at}. Nothing was changed."), shown="already applied")


def _lines(content: Text, spans: Sequence[tuple[int, int]]) -> str:
    named = ", ".join(str(content.line_of(start)) for start, _ in spans[:_LINES_NAMED])
    return named + (", …" if len(spans) > _LINES_NAMED else "")
