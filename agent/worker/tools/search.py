"""`search`: lines that match a regular expression."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from agent.domain.chat import ToolSpec
from agent.domain.text import left_out, one_line, plain
from agent.errors import AgentctlError
from agent.worker.files import Refusal
from agent.worker.tools.base import TEXT, Args, Desk, Result, failure, schema, text
from agent.worker.workspace import Found

_HITS = 100
_CHARACTERS = 12_000
_LONGEST_LINE = 200


class Search:
    """Over what git tracks or doesn't ignore; binary files and `.agent/` are left out."""

    spec = ToolSpec(
        "search",
        "Find lines by regular expression (grep -P) in files that git doesn't ignore. path: a folder or file. glob: such as *.py",
        schema({"pattern": TEXT}, {"path": TEXT, "glob": TEXT}),
    )

    def brief(self, args: Args) -> str:
        where = " ".join(part for part in (text(args, "path"), text(args, "glob")) if part)
        return one_line(f"{text(args, 'pattern')}{' in ' + where if where else ''}")

    def run(self, args: Args, desk: Desk) -> Result:
        pattern = text(args, "pattern")
        if not pattern or "\n" in pattern:
            return failure("`pattern` is empty or holds a line break; lines are searched one by one.", "Search for a part of one line.")
        place = desk.workspace.readable(text(args, "path") or ".")
        if not desk.workspace.root.look(place.path):
            near = desk.workspace.nearest(place.path)
            raise Refusal(f"{text(args, 'path')} doesn't exist.", f"Near it: {', '.join(near)}" if near else "")
        try:
            hits = desk.workspace.repo.grep(pattern, place.path, text(args, "glob"), _HITS + 1)
        except AgentctlError as error:
            return failure(
                f"The search failed: {error.message}",
                "The pattern is a Perl regular expression: ( [ { . * + ? | need a \\ to be themselves.",
            )
        if not hits:
            return Result("No line matches.", shown="no match")
        return _told(hits)


def _told(hits: Sequence[Found]) -> Result:
    parts: list[str] = []
    told, room = 0, _CHARACTERS
    for path, group in groupby(hits[:_HITS], key=lambda hit: hit.path):
        lines = [f"{hit.line}│{_cut(plain(hit.text.removesuffix(chr(13))))}" for hit in group]
        block = [plain(path), *lines]
        room -= sum(len(line) + 1 for line in block)
        if room < 0 and parts:
            break
        parts += block
        told += len(lines)
    if told < len(hits):
        parts.append(left_out("More matches") + " Narrow the search with path or glob.")
    return Result("\n".join(parts), shown=f"{told} matches" if told < len(hits) else f"{told} match{'es' if told != 1 else ''}")


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + left_out(f"{len(line) - _LONGEST_LINE:,} characters")
