from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.chat import ToolCall
from agent.domain.progress import Proposed, Remembered
from agent.worker.protocol import Ending
from agent.worker.tools import PLAN_TOOLS, STEP_TOOLS, Ready, parse_args, prepare
from agent.worker.tools.base import Result

from .bench import Bench

SIGNATURES = {
    "read": (["path"], ["limit", "offset"]),
    "search": (["pattern"], ["glob", "path"]),
    "list": ([], ["depth", "path"]),
    "edit": (["path", "old", "new"], ["all"]),
    "write": (["path", "content"], []),
    "run": (["command"], ["timeout"]),
    "remember": (["title", "text"], []),
    "propose": (["title", "text"], ["check"]),
    "ask": (["question"], []),
    "finish": (["note", "letter"], []),
}


def test_the_tools_are_these_with_these_arguments() -> None:
    found = {
        name: (tool.spec.parameters["required"], sorted(set(tool.spec.parameters["properties"]) - set(tool.spec.parameters["required"])))
        for name, tool in STEP_TOOLS.items()
    }
    assert found == SIGNATURES
    assert list(PLAN_TOOLS) == ["read", "search", "list", "propose", "finish"]


def test_all_schemas_together_stay_under_750_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.find_spec("litellm")
    assert spec is not None
    assert spec.origin is not None
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"))
    import tiktoken  # noqa: PLC0415 - it must not read its cache's place before this test sets it

    tools = [
        {"type": "function", "function": {"name": tool.spec.name, "description": tool.spec.description, "parameters": tool.spec.parameters}}
        for tool in STEP_TOOLS.values()
    ]
    text = json.dumps(tools, separators=(",", ":"), ensure_ascii=False)
    assert len(tiktoken.get_encoding("cl100k_base").encode(text)) <= 750


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=5), part, max_size=3),
    max_leaves=6,
)
ARGS = st.dictionaries(st.sampled_from(["path", "old", "new", "all", "offset", "command", "x"]), JSON, max_size=5)


@given(st.sampled_from(sorted(STEP_TOOLS)), st.text(max_size=40) | JSON.map(json.dumps) | ARGS.map(json.dumps))
def test_arguments_never_raise_and_what_passes_has_the_right_types(name: str, raw: str) -> None:
    spec = STEP_TOOLS[name].spec
    args = parse_args(spec, raw)
    if isinstance(args, str):
        assert spec.name in args
        return
    kinds = {"string": str, "integer": int, "boolean": bool}
    assert set(spec.parameters["required"]) <= set(args)
    for key, value in args.items():
        assert type(value) is kinds[spec.parameters["properties"][key]["type"]]
    assert "\n" not in STEP_TOOLS[name].brief(args)


@pytest.mark.parametrize("raw", ["[" * 100_000, '{"path": ' * 50_000, '{"path": 1' + "0" * 10_000 + "}", '"x"', "[]", "null", "NaN"])
def test_monstrous_arguments_are_an_answer_too(raw: str) -> None:
    assert isinstance(parse_args(STEP_TOOLS["read"].spec, raw), str)


def refusal(tool: str, raw: str) -> str:
    answer = prepare(STEP_TOOLS, ToolCall("1", tool, raw))
    assert isinstance(answer, Result)
    assert not answer.ok
    return answer.text


def test_case_74_arguments_that_were_cut_off_are_not_repaired() -> None:
    text = refusal("write", '{"path": "calc.py", "content": "def add(a, b):\\n    ret')
    assert "not valid JSON" in text
    assert "cut off" in text
    assert "write takes path (string), content (string)." in text


def test_what_is_wrong_with_arguments_is_named() -> None:
    assert "`old` is missing" in refusal("edit", '{"path": "x", "new": "y"}')
    assert "`replace` is not one of its arguments" in refusal("edit", '{"path": "x", "old": "a", "new": "y", "replace": "z"}')
    assert "`offset` must be an integer, not a string" in refusal("read", '{"path": "x", "offset": "10"}')
    assert "`path` must be a string, not an array" in refusal("read", '{"path": ["x"]}')
    assert "`all` must be a boolean, not a string" in refusal("edit", '{"path": "x", "old": "a", "new": "b", "all": "false"}')
    assert "at least 1 and at most 600" in refusal("run", '{"command": "true", "timeout": 6000}')
    assert "given twice" in refusal("read", '{"path": "a", "path": "b"}')
    assert "no character of a text" in refusal("write", '{"path": "a", "content": "\\ud83d"}')
    assert "no character of a text" in refusal("read", '{"path": "a\\u0000b"}')
    unknown = refusal("bash\x1b[2J", "{}")
    assert all(name in unknown for name in STEP_TOOLS)
    assert "\x1b" not in unknown


def test_null_and_nothing_stand_for_arguments_that_were_not_given() -> None:
    ready = prepare(STEP_TOOLS, ToolCall("1", "read", '{"path": "x", "offset": null, "limit": 5.0}'))
    assert isinstance(ready, Ready)
    assert ready.args == {"path": "x", "limit": 5}
    assert isinstance(prepare(STEP_TOOLS, ToolCall("1", "list", "")), Ready)
    assert "`path` is missing" in refusal("read", '{"path": null}')


def test_run_tells_code_time_and_output(bench: Bench) -> None:
    failed = bench.call("run", command="echo out; exit 3")
    assert not failed.ok
    assert failed.text.startswith("exit code 3 after ")
    assert failed.text.endswith("\nout")
    assert bench.call("run", command="true").text.endswith("(no output)")
    assert bench.call("run", command="pwd").text.endswith(str(bench.root))
    assert "`command` is empty" in bench.call("run", command="  ").text


def test_case_91_run_says_that_its_time_was_up_and_keeps_what_was_said(bench: Bench) -> None:
    result = bench.call("run", command="echo started; sleep 60", timeout=1)
    assert not result.ok
    assert "Ended after 1 s, its time limit" in result.text
    assert result.text.endswith("started")


def test_case_92_run_gives_the_model_a_text_of_bounded_size(bench: Bench) -> None:
    bench.file(
        "noisy.py",
        "import sys\nfor i in range(60000): sys.stdout.write('\\r\\x1b[32m%5d%%|####      | it/s\\x1b[0m' % i)\nprint('\\n' * 3 + 'x' * 100000)\nprint('LAST LINE: 1 failed')\n",
    )
    text = bench.call("run", command="python3 noisy.py; seq 100000; python3 -c \"print('LAST LINE: 1 failed')\"").text
    assert len(text) < 9000
    assert text.endswith("LAST LINE: 1 failed")
    assert "\x1b" not in text


def test_run_has_no_key_of_the_caller(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-value")
    text = Bench.at(bench.root).call("run", command="env; cat /proc/self/environ").text
    assert "sk-secret-value" not in text
    assert "GIT_PAGER=cat" in text


def test_what_a_session_collects_lies_on_its_desk(bench: Bench) -> None:
    assert bench.call("remember", title="Tests need a port", text="Set PORT.").ok
    assert bench.call("remember", title="Tests need a port", text="Set PORT to 0.").ok
    assert bench.call("propose", title="Convert fixtures", text="No TestCase is left.", check="pytest -q").ok
    assert bench.call("propose", title="Tidy up", text="x").ok
    assert bench.desk.lessons == [Remembered("Tests need a port", "Set PORT to 0.")]
    assert bench.desk.proposals == [Proposed("Convert fixtures", "No TestCase is left.", "pytest -q"), Proposed("Tidy up", "x", "")]
    assert bench.desk.ending is None


def test_asking_and_finishing_end_the_session_and_the_last_word_counts(bench: Bench) -> None:
    assert bench.call("ask", question="Which port?").ok
    assert (bench.desk.ending, bench.desk.note, bench.desk.letter) == (Ending.ASKED, "Which port?", "")
    assert bench.call("finish", note="add() adds.", letter="Next: mul().").ok
    assert bench.call("finish", note="add() adds, tested.", letter="Next: mul() and div().").ok
    assert (bench.desk.ending, bench.desk.note, bench.desk.letter) == (Ending.FINISHED, "add() adds, tested.", "Next: mul() and div().")


@pytest.mark.parametrize(
    ("tool", "args", "said"),
    [
        ("finish", {"note": " ", "letter": "x"}, "`note` is empty"),
        ("finish", {"note": "x", "letter": ""}, "`letter` is empty"),
        ("finish", {"note": "x" * 20_001, "letter": "x"}, "at most 20,000"),
        ("finish", {"note": "x", "letter": "x" * 12_001}, "at most 12,000"),
        ("ask", {"question": "\n"}, "`question` is empty"),
        ("remember", {"title": "", "text": "x"}, "`title` is empty"),
        ("propose", {"title": "x", "text": "x", "check": ""}, "`check` is empty"),
        ("propose", {"title": "x", "text": "x", "check": "a\nb"}, "more than one line"),
    ],
)
def test_empty_and_oversized_words_are_refused_and_change_nothing(bench: Bench, tool: str, args: dict[str, str], said: str) -> None:
    bench.refused(tool, said, **args)
    desk = bench.desk
    assert (desk.ending, desk.note, desk.letter, desk.lessons, desk.proposals) == (None, "", "", [], [])


@given(st.text(max_size=300))
def test_what_is_shown_of_a_call_is_one_safe_line(odd: str) -> None:
    for name, tool in STEP_TOOLS.items():
        brief = tool.brief(dict.fromkeys(SIGNATURES[name][0], odd))
        assert len(brief) <= 120
        assert "\n" not in brief
        assert "\x1b" not in brief


def test_what_is_shown_of_a_result_is_one_safe_line(bench: Bench) -> None:
    for path in ("a\x1b[2Jb.py", "a\nb.py", "\u202egpj.py"):
        for tool, args in (("read", {}), ("write", {"content": "x"}), ("edit", {"old": "a", "new": "b"}), ("list", {})):
            shown = bench.call(tool, path=path, **args)
            assert not {"\x1b", "\u202e"} & set(shown.text + shown.shown)
            assert "\n" not in shown.shown
            assert len(shown.shown) <= 120


def test_tools_are_found_without_any_environment_of_a_terminal(bench: Bench) -> None:
    told = bench.call("run", command="env").text.splitlines()
    assert f"PATH={os.environ['PATH']}" in told
    assert "PAGER=cat" in told
