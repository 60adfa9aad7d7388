from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.chat import Message, Request, ToolCall
from agent.domain.price import Price
from agent.domain.usage import NOTHING, Usage
from agent.errors import Exit
from agent.model.errors import Kind, ModelError
from agent.model.opening import open_model
from agent.model.protocol import Endpoint, Limits, Model, Task
from agent.model.recording import read_recording

ASK = Request((Message("user", "Go on."),), (), 100)

RECORDING = """\
limits: {window: 32000, max_output: 4000}
items:
  add-sub:
    - replies:
        - text: "Look first."
          calls: [{tool: read, args: {path: calc.py}}]
        - calls:
            - {tool: edit, args: {path: calc.py, old: "return a - b", new: "return a + b"}}
            - {tool: finish, args: {note: "add() ädds.", letter: "Next: mul()."}}
          usage: {input: 1200, cached: 1000, output: 80, usd: 0.01}
    - replies:
        - text: second attempt
  "*":
    - replies:
        - text: any item
        - error: {kind: wait, message: the provider is asleep}
        - calls: [{tool: write, args: '{"path": "a.py", "conten'}]
          finish: length
plan:
  - replies:
      - text: a plan
"""


def model(root: Path, text: str = RECORDING, topic: str = "add-sub", attempt: int = 1) -> Model:
    (root / "replies.yaml").write_text(text, encoding="utf-8")
    return open_model("scripted:replies.yaml", endpoint=Endpoint(), task=Task(topic, attempt), root=root)


def failing(asked: Model) -> ModelError:
    with pytest.raises(ModelError) as caught:
        asked.complete(ASK)
    return caught.value


def test_replies_come_in_order_with_their_calls_and_usage(tmp_path: Path) -> None:
    with model(tmp_path) as asked:
        first, second = asked.complete(ASK), asked.complete(ASK)
    assert (first.text, first.calls, first.finish) == ("Look first.", (ToolCall("call_1_1", "read", '{"path": "calc.py"}'),), "tool_calls")
    assert first.usage == NOTHING
    assert [call.name for call in second.calls] == ["edit", "finish"]
    assert json.loads(second.calls[1].args) == {"note": "add() ädds.", "letter": "Next: mul()."}
    assert second.usage == Usage(usd=0.01, input=1200, cached=1000, output=80)
    assert len({call.id for reply in (first, second) for call in reply.calls}) == 3
    assert asked.name == "scripted:replies.yaml"
    assert (asked.limits, asked.price) == (Limits(32_000, 4_000), None)


@pytest.mark.parametrize(
    ("topic", "attempt", "said"),
    [
        ("add-sub", 1, "Look first."),
        ("add-sub", 2, "second attempt"),
        ("add-sub", 9, "second attempt"),
        ("other", 1, "any item"),
        ("plan", 1, "a plan"),
    ],
)
def test_item_and_attempt_choose_the_replies(tmp_path: Path, topic: str, attempt: int, said: str) -> None:
    assert model(tmp_path, topic=topic, attempt=attempt).complete(ASK).text == said


def test_errors_and_broken_calls_can_be_recorded(tmp_path: Path) -> None:
    asked = model(tmp_path, topic="other")
    asked.complete(ASK)
    error = failing(asked)
    assert (error.message, error.kind, error.code) == ("the provider is asleep", Kind.WAIT, Exit.UNAVAILABLE)
    cut = asked.complete(ASK)
    assert (cut.calls[0].args, cut.finish) == ('{"path": "a.py", "conten', "length")


def test_after_its_last_reply_a_recording_says_so_as_a_model_that_has_stopped_working(tmp_path: Path) -> None:
    asked = model(tmp_path, attempt=2)
    asked.complete(ASK)
    for _ in range(2):
        said = asked.complete(ASK)
        assert (said.text, said.calls, said.usage) == ("(the recording replies.yaml has no further reply)", (), NOTHING)


def test_a_recording_without_the_item_says_so(tmp_path: Path) -> None:
    asked = model(tmp_path, "items: {a: [{replies: [{text: x}]}]}", topic="b")
    assert failing(asked).message == "the recording replies.yaml has nothing for b"
    with pytest.raises(ModelError, match="nothing for b"):
        asked.check()
    assert failing(model(tmp_path, "items: {a: [{replies: [{text: x}]}]}", topic="plan")).message == "the recording replies.yaml has nothing for plan"


def test_a_price_charges_what_has_no_amount_of_its_own(tmp_path: Path) -> None:
    usage = "{input: 2006, cached: 1920, output: 300}"
    text = f"price: {{input: 2.5, cached: 1.25, output: 10}}\nitems: {{a: [{{replies: [{{text: x, usage: {usage}}}, {{text: x, usage: {{usd: null}}}}]}}]}}"
    asked = model(tmp_path, text, topic="a")
    assert asked.price == Price(2.5, 1.25, 10)
    assert asked.complete(ASK).usage.usd == 0.005615
    assert asked.complete(ASK).usage.usd is None


def test_an_absolute_path_is_taken_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    file.write_text(RECORDING)
    assert open_model(f"scripted:{file}", endpoint=Endpoint(), task=Task("plan"), root=tmp_path / "elsewhere").complete(ASK).text == "a plan"


def test_a_colon_elsewhere_in_a_name_makes_no_recording(tmp_path: Path) -> None:
    with open_model("ollama/llama3:8b", endpoint=Endpoint(), task=Task("x"), root=tmp_path) as asked:
        assert asked.name == "ollama/llama3:8b"


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("", 1, "empty"),
        ("- a", 1, "a mapping is needed here"),
        ("item: {}", 1, "unknown key `item`; known here: items, limits, plan, price"),
        ("items:\n  a:\n    replies: []", 3, "a list is needed here"),
        ("items:\n  a:\n    - reply: []", 3, "unknown key `reply`"),
        ("items:\n  a:\n    - {}", 3, "`replies` is missing"),
        ("items:\n  a: []", 2, "no attempt is recorded"),
        ("items:\n  a:\n    - replies: []\n  a:\n    - replies: []", 4, "`a` stands here twice"),
        ("plan:\n  - replies:\n      - txt: x", 3, "unknown key `txt`"),
        ("plan:\n  - replies:\n      - {}", 3, "a reply needs `text`, `calls` or `error`"),
        ("plan:\n  - replies:\n      - text: x\n        usage: {inputs: 1}", 4, "unknown key `inputs`"),
        ("plan:\n  - replies:\n      - text: x\n        usage: {input: 1.5}", 4, "a whole number is needed here"),
        ("plan:\n  - replies:\n      - text: x\n        usage: {input: -1}", 4, "a number of 0 or more is needed here"),
        ("plan:\n  - replies:\n      - text: x\n        usage: {input: many}", 4, "a number is needed here"),
        ("plan:\n  - replies:\n      - text: x\n        usage: {input: 1, cached: 2}", 4, "`cached` is part of `input`"),
        ("plan:\n  - replies:\n      - calls:\n          - {tol: read}", 4, "unknown key `tol`"),
        ("plan:\n  - replies:\n      - calls:\n          - {args: {}}", 4, "`tool` is missing"),
        ("plan:\n  - replies:\n      - calls:\n          - {tool: read, args: [a]}", 4, "`args` is a mapping"),
        ("plan:\n  - replies:\n      - calls:\n          - {tool: read, args: {a: 1, a: 2}}", 4, "`a` stands here twice"),
        ("plan:\n  - replies:\n      - calls:\n          - {tool: read, args: {a: 2026-11-29}}", 4, "what JSON cannot"),
        ("plan:\n  - replies:\n      - error: {kind: often, message: x}", 3, "`kind` is one of wait, mend, stop, bug"),
        ("plan:\n  - replies:\n      - error: {kind: wait, message: x}\n        text: y", 3, "`error` stands alone"),
        ("plan:\n  - replies: [\n", 3, "no YAML"),
        ("a: b: c", 1, "no YAML"),
        ("plan: !!python/object:os.system []", 1, "no attempt"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(tmp_path: Path, text: str, where: int, what: str) -> None:
    with pytest.raises(ModelError) as caught:
        model(tmp_path, text)
    assert caught.value.message.startswith(f"replies.yaml:{where}: ")
    assert what in caught.value.message
    assert (caught.value.kind, caught.value.code) == (Kind.STOP, Exit.ERROR)


def test_a_file_that_is_not_there_or_no_text_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"the recording gone\.yaml cannot be read: No such file or directory"):
        open_model("scripted:gone.yaml", endpoint=Endpoint(), task=Task("x"), root=tmp_path)
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelError, match=r"the recording b\.yaml cannot be read"):
        open_model("scripted:b.yaml", endpoint=Endpoint(), task=Task("x"), root=tmp_path)
    (tmp_path / "c.yaml").write_bytes(b"items: \x07")
    with pytest.raises(ModelError, match=r"c\.yaml: no YAML"):
        open_model("scripted:c.yaml", endpoint=Endpoint(), task=Task("x"), root=tmp_path)


keys = st.sampled_from(["items", "plan", "limits", "price", "replies", "text", "calls", "tool", "args", "usage", "input", "error", "kind", "*"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
)


@given(st.text() | st.dictionaries(keys, values).map(json.dumps))
def test_any_file_is_a_recording_or_an_error_that_names_it(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    file.write_text(text, encoding="utf-8", errors="replace")
    told = ""
    try:
        read_recording(file, "any.yaml")
    except ModelError as error:
        told = error.message
    assert not told or "any.yaml" in told
