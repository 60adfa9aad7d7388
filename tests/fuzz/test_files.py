"""What agentctl keeps in the git directory and in the person's own folders, after anybody was at it: read as far as it can be, refused in one sentence, never a crash."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from agent.actions.life import life
from agent.approvals import Approvals
from agent.domain.config import Limits
from agent.domain.pulse import Pulse, render_pulse
from agent.durable import TEMPORARY, abandoned
from agent.errors import AgentctlError
from agent.heartbeat import read_heartbeat
from agent.journal import Entry, Journal, Landing
from agent.ledger import Holds, Ledger, Purse
from agent.model.protocol import Endpoint, Task
from agent.model.scripted import open_scripted
from agent.personal import personal
from agent.render.transcript import transcript_text
from agent.transcripts import read_local
from tests.fuzz.examples import assert_told, examples, in_time
from tests.fuzz.inputs import ANY_BYTES, damaged, damaged_json
from tests.fuzz.parsers import STEP, counts, ids, lines, progresses, texts, usages

NOW = datetime(2026, 11, 29, 13, 3, 55, tzinfo=UTC)
SHA = st.just("a" * 40)


@dataclass(frozen=True)
class Kept:
    """A file at `path` in a folder of agentctl's, what may stand in it, and what reads it."""

    path: str
    valid: st.SearchStrategy[Any]
    read: Callable[[Path], object]
    is_json: bool = True

    @property
    def damaged(self) -> st.SearchStrategy[bytes]:
        return damaged_json(self.valid) if self.is_json else damaged(self.valid)


entries = st.builds(
    Entry, st.just(str(STEP)), ids, SHA, st.lists(lines, max_size=2).map(tuple),
    st.dictionaries(lines, st.none() | st.tuples(SHA, st.just(0o644)), max_size=2), st.lists(lines, max_size=2).map(tuple),
    st.none() | st.builds(Landing, SHA, st.none() | SHA, st.lists(st.tuples(lines, texts), max_size=2).map(tuple), texts),
    st.none() | lines, st.lists(lines, max_size=1).map(tuple), lines, st.none() | SHA, st.lists(lines, max_size=1).map(tuple), progresses, st.dictionaries(ids, usages, max_size=2), counts,
)  # fmt: skip
pulses = st.builds(
    Pulse, st.integers(1, 99_999), lines, st.just(NOW), st.just(NOW), st.just(NOW), st.just(str(STEP)), ids, lines, lines, st.floats(0, 900), counts,
    st.none() | st.just(NOW), st.none() | st.floats(0, 9),
)  # fmt: skip
calls = st.fixed_dictionaries(
    {
        "at": st.just("2026-11-29T13:03:55Z"), "step": st.just(str(STEP)), "item": ids, "model": lines, "usd": st.none() | st.floats(0, 9),
        "input": counts, "cached": counts, "output": counts, "seconds": st.floats(0, 99),
    },
    optional={"hold": st.just("0123456789abcdef")},
)  # fmt: skip
holds = st.fixed_dictionaries(
    {
        "name": st.just("0123456789abcdef"), "at": st.just("2026-11-29T13:03:55Z"), "step": st.just(str(STEP)), "item": ids, "model": lines,
        "usd": st.floats(0, 9), "tokens": counts, "start": st.integers(0, 99),
    }
)  # fmt: skip
said = st.fixed_dictionaries(
    {"time": lines, "kind": st.sampled_from(["message", "reply", "error"]), "text": texts},
    optional={
        "role": lines,
        "calls": st.lists(st.fixed_dictionaries({"id": ids, "name": ids, "args": texts}), max_size=2),
        "usage": usages.map(to_builtins),
    },
)
RECORDING = b"""limits: {window: 90000, max_output: 4000}
price: {input: 1, cached: 0.1, output: 5}
plan:
- replies: [{text: x, usage: {input: 10, cached: 2, output: 3}}]
items:
  "*":
  - replies:
    - &one {text: hello, calls: [{tool: read, args: {path: a.py, n: [1, {b: 2}]}}, {tool: run, args: "{broken"}], usage: {input: 5, usd: 0.1}}
    - *one
    - error: {kind: wait, message: later}
"""


def _jsonl(one: st.SearchStrategy[Any]) -> st.SearchStrategy[bytes]:
    return st.lists(one.map(lambda value: json.dumps(value).encode()) | damaged_json(one), max_size=4).map(b"\n".join)


def _purse(folder: Path) -> object:
    limits = Limits(day_usd=50, total_usd=90, day_tokens=10**8, total_tokens=10**9)
    purse = Purse(folder, limits, now=lambda: NOW)
    sums = Ledger(folder).sums()
    assert all(0 <= number < math.inf for one in sums.spent for number in (one.usage.usd or 0.0, one.usage.input, one.usage.output))
    Ledger(folder).of(str(STEP))
    purse.refuse_empty()
    return purse.passed([5.0]), Holds(folder).open(Ledger(folder)), sums


def _heartbeat(folder: Path) -> object:
    pulse = read_heartbeat(folder)
    return pulse and (life(folder, None, NOW), render_pulse(pulse))


def _journal(folder: Path) -> object:
    entry = Journal(folder).read()
    if entry is not None:
        Journal(folder).write(entry)
        assert Journal(folder).read() == entry
    return entry


def _recording(folder: Path) -> object:
    model = open_scripted(f"scripted:{folder}/r.yaml", endpoint=Endpoint(), task=Task("any", 1), root=folder)
    return model.limits, model.price


def _approvals(folder: Path) -> object:
    made = Approvals(folder, folder / "top", {"XDG_STATE_HOME": str(folder / "state")})
    file = made._file()
    assert file is not None
    file.parent.mkdir(parents=True, exist_ok=True)
    (folder / "agentctl").mkdir(exist_ok=True)
    (folder / "agentctl/clone").write_text("word")
    (folder / "trust").replace(file)
    lacking = made.lacking(["digest"])
    made.add(["digest"])
    assert not made.lacking(["digest"])
    return lacking


approved = st.fixed_dictionaries({"repository": st.just("x"), "clone": st.just("word"), "approved": st.lists(ids, max_size=3)})

KEPT = (
    Kept("journal.json", entries.map(to_builtins), _journal),
    Kept("heartbeat", pulses.map(lambda pulse: json.loads(render_pulse(pulse))), _heartbeat),
    Kept("ledger.jsonl", _jsonl(calls), _purse, is_json=False),
    Kept("holds/0123456789abcdef.json", holds, _purse),
    Kept("alerts.json", st.lists(st.floats(0, 99), max_size=3), _purse),
    Kept(f"transcripts/{STEP}.jsonl", _jsonl(said), lambda folder: transcript_text(read_local(folder, STEP) or ()), is_json=False),
    Kept("r.yaml", st.just(RECORDING), _recording, is_json=False),
    Kept("config/agentctl/config.yaml", st.just(b"model: a/b\napi_base: http://x\nkey_env: K\n"), lambda folder: personal({"XDG_CONFIG_HOME": str(folder / "config")}), is_json=False),
    Kept("trust", approved, _approvals),
)  # fmt: skip
_ALL = pytest.mark.parametrize("kept", KEPT, ids=lambda kept: kept.path.replace("/", " "))


def judge(folder: Path, kept: Kept, data: bytes) -> None:
    own = folder / secrets.token_hex(4)
    file = own / kept.path
    file.parent.mkdir(parents=True)
    file.write_bytes(data)
    with in_time():
        try:
            kept.read(own)
        except AgentctlError as error:
            assert_told(error)
    if kept.path not in {"trust", "alerts.json"}:
        assert file.exists()


@_ALL
@examples(8)
@given(data=ANY_BYTES)
def test_anything_at_all(tmp_path: Path, kept: Kept, data: bytes) -> None:
    judge(tmp_path, kept, data)


@_ALL
@examples(20)
@given(choices=st.data())
def test_something_valid_that_was_damaged(tmp_path: Path, kept: Kept, choices: st.DataObject) -> None:
    judge(tmp_path, kept, choices.draw(kept.damaged))


@examples(60)
@given(st.text(max_size=30) | st.sampled_from([".x.²", ".x.99999999999999999999", ".x.-1", ".x.1"]))
def test_any_name_of_a_temporary_file(name: str) -> None:
    abandoned(Path((name.replace("/", "").replace("\0", "") or "x") + TEMPORARY))
