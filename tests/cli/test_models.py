"""Whole steps, through litellm for real and without it, against a loopback server that speaks the chat-completions protocol."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.model.chat_server import ChatServer, calls, fault, slow, text
from tests.project import SOURCE, Project, environment

ITEM = "make-add-add"
EDIT = ("edit", {"path": "calc.py", "old": "a - b", "new": "a + b"})
FINISH = ("finish", {"note": "add() adds now.", "letter": "mul() is next."})


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture
def listed(project: Project, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Project:
    """One item, and a model at an address of one's own."""
    monkeypatch.setenv("AGENTCTL_MODEL", "openai/local")
    monkeypatch.setenv("AGENTCTL_API_BASE", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef0123456789abcdef")
    project.items("Make add() add")
    return project


@pytest.fixture
def known(listed: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The same with a model that litellm knows."""
    monkeypatch.setenv("AGENTCTL_MODEL", "openai/gpt-4o-2024-08-06")
    return listed


def test_a_step_at_an_address_of_ones_own_lands_without_litellm(listed: Project, server: ChatServer, tmp_path: Path) -> None:
    """Whoever imports this one, fails."""
    (tmp_path / "broken/litellm").mkdir(parents=True)
    (tmp_path / "broken/litellm/__init__.py").write_text("raise ImportError('litellm was imported')")
    env = {"PYTHONPATH": os.pathsep.join([str(tmp_path / "broken"), str(SOURCE)])}
    server.says(calls(EDIT, FINISH, usage={"prompt_tokens": 2006, "completion_tokens": 300, "total_tokens": 2306}))
    ran = listed.interpreter("step", env=env)
    assert ran.code == 0, ran.err
    assert "Agent-Model: openai/local\nAgent-Tokens: 2006 in, 0 cached, 300 out\n" in listed.git("log", "-1", "--format=%B")
    again = listed.interpreter("plan", env=env | {"AGENTCTL_MODEL": "openai/gpt-4o"})
    assert "litellm was imported" in again.err


def test_a_step_through_litellm_lands_and_is_charged_once_at_the_cached_price(known: Project, server: ChatServer) -> None:
    usage = {
        "prompt_tokens": 2006,
        "completion_tokens": 300,
        "total_tokens": 2306,
        "prompt_tokens_details": {"cached_tokens": 1920},
        "completion_tokens_details": {"reasoning_tokens": 250},
    }
    server.says(calls(EDIT, FINISH, usage=usage))
    ran = known.process("step")
    assert ran.code == 0, ran.err
    assert known.read("calc.py").endswith("a + b\n")
    assert "Agent-Tokens: 2006 in, 1920 cached, 300 out\nAgent-Cost: 0.0056 USD" in known.git("log", "-1", "--format=%B")
    assert known.agentctl("cost", "--json").json["total"] == {"usd": 0.005615, "input": 2006, "cached": 1920, "output": 300}
    sent = server.requests[0].body
    assert sent["messages"][0]["content"].startswith("You are agentctl's worker")
    assert [tool["function"]["name"] for tool in sent["tools"]] == [
        "read",
        "search",
        "list",
        "edit",
        "write",
        "run",
        "remember",
        "propose",
        "ask",
        "finish",
    ]


def test_tool_answers_go_back_to_the_model_and_the_prompt_only_grows(listed: Project, server: ChatServer) -> None:
    server.says(calls(("read", {"path": "calc.py"})), calls(("run", {"command": "sh check.sh"})), calls(EDIT), calls(FINISH))
    assert listed.process("step").code == 0
    sent = [request.body["messages"] for request in server.requests]
    for earlier, later in pairwise(sent):
        assert later[: len(earlier)] == earlier
    assert "return a - b" in sent[1][-1]["content"]
    assert "exit code 1" in sent[2][-1]["content"]


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (fault(401, "Incorrect API key provided: sk-test-0123456789abcdef0123456789abcdef"), 1, "OPENAI_API_KEY"),
        (fault(404, "The model `local` does not exist", code="model_not_found"), 1, "openai/local"),
        (fault(429, "You exceeded your current quota", code="insufficient_quota"), 75, "quota"),
        (fault(503, "overloaded"), 75, "openai/local"),
    ],
)
def test_a_provider_that_refuses_is_one_sentence_and_nothing_has_changed(
    listed: Project, server: ChatServer, answer: object, code: int, said: str
) -> None:
    server.says(answer)  # type: ignore[arg-type]
    before = listed.head()
    ran = listed.process("step", "--patience", "0s")
    assert (ran.code, said in ran.err) == (code, True), ran.err
    assert "Traceback" not in ran.err
    assert "0123456789abcdef" not in ran.err
    assert (listed.head(), listed.status()) == (before, "")
    assert len(server.requests) == 1


def test_a_missing_key_is_told_before_anything_is_sent(known: Project, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("AGENTCTL_API_BASE")
    ran = known.process("step")
    assert (ran.code, "OPENAI_API_KEY" in ran.err) == (1, True), ran.err
    assert server.requests == []


def test_no_network_is_told_as_such(listed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTCTL_API_BASE", "http://127.0.0.1:9/v1")
    ran = listed.process("step", "--patience", "0s")
    assert (ran.code, "127.0.0.1:9" in ran.err) == (75, True), ran.err
    assert listed.status() == ""


def test_the_key_reaches_neither_commands_nor_notes_nor_the_ledger(known: Project, server: ChatServer) -> None:
    leak = "sk-test-0123456789abcdef0123456789abcdef"
    server.says(
        calls(("run", {"command": "env > env.txt; cat env.txt"}), EDIT, ("finish", {"note": f"The key is {leak}. env.txt", "letter": leak})),
        calls(("finish", {"note": "add() adds; the environment is in env.txt.", "letter": "Nothing is left."})),
    )
    ran = known.process("step")
    assert ran.code == 0, ran.err
    assert len(server.requests) == 2
    everything = known.git("log", "-p", "--all") + (known.root / ".git/agentctl/ledger.jsonl").read_text() + ran.out + ran.err
    assert leak not in everything
    told = [message for request in server.requests for message in request.body["messages"] if message["role"] != "assistant"]
    assert leak not in json.dumps(told)  # the model's own words go back to it as they were


def test_the_models_plan_is_one_commit_of_items_in_order(listed: Project, server: ChatServer) -> None:
    propose = [
        ("propose", {"title": title, "text": "Done means it works.", "check": "sh check.sh"})
        for title in ("Add mul()", "Add div()", "Make add() add")
    ]
    server.says(calls(("list", {})), calls(*propose, ("finish", {"note": "Two parts.", "letter": "Begin with mul()."})))
    before = listed.head()
    ran = listed.process("plan")
    assert ran.code == 0, ran.err
    assert listed.git("rev-list", "--count", f"{before}..HEAD").strip() == "1"
    rows = listed.agentctl("todo", "--json").json
    assert [row["title"] for row in rows if row["id"] != ITEM] == ["Add mul()", "Add div()"]
    assert "Begin with mul()." in listed.agentctl("handoff").out
    names = [tool["function"]["name"] for tool in server.requests[0].body["tools"]]
    assert names == ["read", "search", "list", "propose", "finish"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)])
def test_a_signal_puts_the_tree_back_and_keeps_the_work(listed: Project, server: ChatServer, number: int, code: int) -> None:
    server.says(calls(("edit", {"path": "calc.py", "old": "a - b", "new": "a * b"})), slow(text("late"), 60))
    process = subprocess.Popen([sys.executable, "-m", "agent", "step"], cwd=listed.root, env=environment(), stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while len(server.requests) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    _, said = process.communicate(timeout=20)
    assert process.returncode == code, said
    assert "Traceback" not in said
    assert listed.status() == ""
    ref = listed.git("for-each-ref", "--format=%(refname)", "refs/agentctl/paused").strip()
    assert "a * b" in listed.git("show", f"{ref}:calc.py")
