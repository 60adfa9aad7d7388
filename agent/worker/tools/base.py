"""What a tool is, what it may reach, and how the arguments that a model wrote become values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct, field

from agent.domain.chat import ToolCall, ToolSpec
from agent.domain.output import fold_output
from agent.domain.progress import Proposed, Remembered
from agent.domain.text import one_line, plain
from agent.domain.todo import tidy_title
from agent.errors import AgentctlError
from agent.worker.protocol import Ending
from agent.worker.shell import Shell
from agent.worker.workspace import Workspace

LONGEST_TOOL = 600
"""Seconds that a tool may take at most."""

Args = Mapping[str, object]
_HALF_OR_NUL = re.compile("[\0\ud800-\udfff]")
_KINDS: Mapping[str, type] = {"string": str, "integer": int, "boolean": bool}


class Result(Struct, frozen=True):
    """What a tool answers: `text` for the model, `shown` one safe line for the screen."""

    text: str
    ok: bool = True
    shown: str = ""


class Desk(Struct):
    """What a session works with (where it may run no commands, without a shell), and what it has collected.

    `condense` folds a command's long output into about so many characters; `outputs` are the whole ones, for `read`. `ending` is set by
    `ask` and `finish`; `note` is the note or the question.
    """

    workspace: Workspace
    shell: Shell | None = None
    condense: Callable[[str, int], str] = fold_output
    outputs: list[str] = field(default_factory=list)
    lessons: list[Remembered] = field(default_factory=list)
    proposals: list[Proposed] = field(default_factory=list)
    ending: Ending | None = None
    note: str = ""
    letter: str = ""


class Tool(Protocol):
    """One tool. `brief` is one safe line about a call before it runs; `run` may raise AgentctlError, and then has changed nothing."""

    @property
    def spec(self) -> ToolSpec: ...

    def brief(self, args: Args) -> str: ...

    def run(self, args: Args, desk: Desk) -> Result: ...


class Ready(Struct, frozen=True):
    """A call whose tool is known and whose arguments are in order."""

    tool: Tool
    args: Args


def schema(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The JSON schema of a tool's arguments."""
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required)}


TEXT: Mapping[str, Any] = {"type": "string"}
NUMBER: Mapping[str, Any] = {"type": "integer", "minimum": 1}
FLAG: Mapping[str, Any] = {"type": "boolean"}


def text(args: Args, name: str) -> str:
    """A string argument, "" where it wasn't given."""
    value = args.get(name, "")
    return value if isinstance(value, str) else ""


def number(args: Args, name: str, default: int) -> int:
    """An integer argument."""
    value = args.get(name, default)
    return value if isinstance(value, int) else default


def flag(args: Args, name: str) -> bool:
    """A boolean argument, False where it wasn't given."""
    return args.get(name) is True


def required_text(args: Args, name: str, longest: int) -> str:
    """A string argument without blanks around it. Raises AgentctlError where it is empty or has more than `longest` characters."""
    value = text(args, name).strip()
    if not value:
        raise AgentctlError(f"`{name}` is empty.", "Say it in words.")
    if len(value) > longest:
        raise AgentctlError(f"`{name}` has {len(value):,} characters, at most {longest:,} are kept.", "Say it shorter.")
    return value


def required_title(args: Args, longest: int) -> str:
    """The argument `title` as one line, as a list shows it. Raises AgentctlError as `required_text`."""
    title = tidy_title(required_text(args, "title", longest))
    if not title:
        raise AgentctlError("`title` is empty.", "Say it in words.")
    return title


def prepare(tools: Mapping[str, Tool], call: ToolCall) -> Ready | Result:
    """The call, ready to run; or what is wrong with it, for the model."""
    tool = tools.get(call.name)
    if tool is None:
        return failure(f"There is no tool {one_line(call.name, 60)!r}.", f"There are: {', '.join(tools)}.")
    args = parse_args(tool.spec, call.args)
    return failure(args) if isinstance(args, str) else Ready(tool, args)


def perform(ready: Ready, desk: Desk) -> Result:
    """Run the call. What was to be expected is an answer to the model, never an exception; an interrupt passes."""
    try:
        return ready.tool.run(ready.args, desk)
    except AgentctlError as error:
        return failure(error.message, error.hint)
    except OSError as error:
        return failure(f"{error.strerror or error}.")


def failure(message: str, hint: str = "") -> Result:
    """An answer that says what is wrong, and what to do."""
    return Result(plain(f"{message} {hint}".strip()), ok=False, shown=one_line(message))


def parse_args(spec: ToolSpec, raw: str) -> Args | str:
    """The arguments in `raw`, checked against the tool's schema; or a text that says what is wrong. Nothing is repaired or guessed.

    An argument that is null counts as not given, an empty `raw` as `{}`; both are how some servers send them.
    """
    try:
        given = json.loads(raw.strip() or "{}", object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        return _unparsable(spec, raw, error)
    if not isinstance(given, dict):
        return f"The arguments of {spec.name} must be a JSON object. {usage(spec)}"
    args = {name: value for name, value in given.items() if value is not None}
    faults = [*_missing(spec, args), *(fault for name, value in args.items() if (fault := _fault(spec, name, value)))]
    if faults:
        return f"{spec.name} was not run: {'; '.join(faults)}. {usage(spec)}"
    return {name: int(value) if isinstance(value, float) else value for name, value in args.items()}


def usage(spec: ToolSpec) -> str:
    """One sentence that names the arguments: `read takes path (string), offset (integer, optional).`."""
    needed = spec.parameters.get("required", ())
    named = (f"{name} ({kind['type']}{'' if name in needed else ', optional'})" for name, kind in _properties(spec).items())
    return f"{spec.name} takes {', '.join(named)}."


def _properties(spec: ToolSpec) -> Mapping[str, Mapping[str, Any]]:
    properties: Mapping[str, Mapping[str, Any]] = spec.parameters.get("properties", {})
    return properties


def _unparsable(spec: ToolSpec, raw: str, error: BaseException) -> str:
    reason = f"{error.msg} at character {error.pos} of {len(raw)}" if isinstance(error, json.JSONDecodeError) else one_line(str(error), 200)
    return (
        f"{spec.name} was not run: its arguments are not valid JSON ({reason}). If they were cut off, make the call smaller: "
        f"several edits in place of a whole file. {usage(spec)}"
    )


def _once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{twice!r} is given twice")
    return dict(pairs)


def _no_constant(word: str) -> object:
    raise ValueError(f"{word} is not JSON")


def _missing(spec: ToolSpec, args: Args) -> list[str]:
    return [f"`{name}` is missing" for name in spec.parameters.get("required", ()) if name not in args]


def _fault(spec: ToolSpec, name: str, value: object) -> str:
    kind = _properties(spec).get(name)
    if kind is None:
        return f"`{one_line(name, 60)}` is not one of its arguments"
    if not _is_a(value, kind["type"]):
        return f"`{name}` must be {_article(kind['type'])}, not {_article(_kind_of(value))}"
    if isinstance(value, str) and (odd := _HALF_OR_NUL.search(value)):
        return f"`{name}` holds {plain(odd[0])}, which is no character of a text"
    if isinstance(value, int) and not kind.get("minimum", value) <= value <= kind.get("maximum", value):
        return f"`{name}` must be at least {kind['minimum']}" + (f" and at most {kind['maximum']}" if "maximum" in kind else "")
    return ""


def _is_a(value: object, kind: str) -> bool:
    if kind == "integer":
        return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())
    return isinstance(value, _KINDS[kind])


def _kind_of(value: object) -> str:
    kinds = {bool: "boolean", int: "number", float: "number", str: "string", list: "array"}
    return kinds.get(type(value), "object")


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aio" else f"a {kind}"
