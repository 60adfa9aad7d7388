"""`--log-format json`: lines for a log collector, as docs/logs.md says."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable
from datetime import datetime
from types import UnionType
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import fields

from agent.domain import events
from agent.domain.events import Looked, Said, StepBegan, StepEnded
from agent.domain.usage import NOTHING, Usage
from agent.errors import AgentctlError
from agent.render.logs import Lines, write_line
from tests.project import ADDS, SOURCE, Project, call, finish, reply

_KEYS = {"time", "event", "pid", "step", "item", "phase", "spent"}
_ROW = re.compile(r"^\| `(\w+)` \| ((?:`\w+`(?:, )?)+) \|", re.MULTILINE)


def documented() -> dict[str, set[str]]:
    """What docs/logs.md says of each kind of line: its own keys."""
    return {name: set(re.findall(r"`(\w+)`", keys)) for name, keys in _ROW.findall((SOURCE / "docs/logs.md").read_text("utf-8"))}


def lines_of(err: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in err.splitlines()]


def sample(event: type[Any]) -> Any:
    usual: dict[Any, Any] = {int: 1, float: 1.0, bool: True, Usage: NOTHING}
    return event(**{field.name: usual.get(field.type, "x") for field in fields(event)})


def test_every_event_has_a_line_and_its_keys_are_documented() -> None:
    union = events.Event
    assert isinstance(union, UnionType)
    lines = Lines(lambda _: "patch")
    told = [lines.line(sample(event)) for event in get_args(union) if event is not Looked]
    shown = {str(line["event"]): set(line) - _KEYS for line in [*told, lines.error(AgentctlError("x"))] if line}
    assert shown == documented()


def test_a_step_is_told_line_by_line_with_what_it_cost_and_what_it_remembered(project: Project) -> None:
    project.items("First")
    project.record({"first": [[reply(call("run", command="echo hi"), text="Let me see."), reply(ADDS, finish("Added up."))]]})
    ran = project.agentctl("step", "--log-format", "json", "--json")
    assert ran.code == 0
    lines = lines_of(ran.err)
    assert {line["event"] for line in lines} <= set(documented())
    assert all(set(line) - _KEYS == documented()[line["event"]] for line in lines)
    assert all(datetime.fromisoformat(line["time"]).utcoffset() is not None and line["time"].endswith("Z") for line in lines)
    began = [line["event"] for line in lines].index("step_began")
    assert {(line["item"], line["step"]) for line in lines[began:]} == {("first", ran.json["step"])}
    last = lines[-1]
    assert (last["event"], last["outcome"], last["commit"], last["spent"]["usd"]) == ("step_ended", "done", ran.json["commit"], 0.02)
    assert last["phase"] == "commit"
    assert "+Added up." in last["memory"]
    assert "calc.py" not in last["memory"]


def test_an_error_is_a_line_too_and_the_only_one_on_stderr(project: Project) -> None:
    ran = project.agentctl("step", "--log-format", "json")
    assert ran.code == 3
    assert [(line["event"], line["exit"], line["message"]) for line in lines_of(ran.err)] == [("error", 3, "the list is empty")]


def test_a_run_tells_each_step_and_why_it_ended(project: Project) -> None:
    project.items("First", "Second")
    project.record({"first": [[reply(ADDS, finish())]], "second": [[reply(call("ask", question="Red or blue?"))]]})
    ran = project.agentctl("run", "--log-format", "json")
    assert ran.code == 6
    lines = lines_of(ran.err)
    assert [line["outcome"] for line in lines if line["event"] == "step_ended"] == ["done", "blocked"]
    assert (lines[-1]["event"], lines[-1]["exit"]) == ("run_ended", 6)


def test_a_plan_is_told_as_well(project: Project) -> None:
    project.record({}, plan=[{"replies": [reply(call("propose", title="Do it", text="Done when done."), finish())]}])
    ran = project.agentctl("plan", "--log-format", "json")
    assert ran.code == 0, ran.err
    assert lines_of(ran.err)[-1]["event"] == "step_ended"


@given(text=st.text() | st.text(alphabet="\x00\x1b\x7f\x85\u202e\ud800\r\n\t ab"))
def test_no_line_holds_a_control_character_or_a_line_break_whatever_the_model_says(text: str) -> None:
    out = io.StringIO()
    write_line(out, Lines(lambda _: "").line(Said(text)))
    line = out.getvalue()
    assert line.endswith("\n")
    assert line[:-1].isascii()
    assert line[:-1].isprintable()
    assert not any(ord(char) < 32 and char not in "\n\t" for char in json.loads(line)["text"])


def test_no_line_holds_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "correct-horse-battery")
    tells: list[Callable[[Lines], dict[str, Any] | None]] = [
        lambda lines: lines.line(Said("it is correct-horse-battery")),
        lambda lines: lines.line(StepBegan("s", "i", "openai/correct-horse-battery")),
        lambda lines: lines.line(StepEnded("done", "c", NOTHING)),
        lambda lines: lines.error(AgentctlError("no correct-horse-battery", "correct-horse-battery")),
    ]
    for tell in tells:
        assert "correct-horse" not in json.dumps(tell(Lines(lambda _: "+ correct-horse-battery")))
    assert os.environ["SOME_API_KEY"]


def test_a_long_text_is_cut_and_says_so() -> None:
    line = Lines(lambda _: "").line(Said("x" * 100_000))
    assert line is not None
    assert len(line["text"]) < 33_000
    assert "67232 characters left out" in line["text"]
