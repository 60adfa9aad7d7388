"""A run through faults of the provider, as a process of its own, with the real litellm and without, ends where a run without them does."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

import pytest

from agent.model.errors import Kind, Reason
from tests.model.chat_server import Answer, ChatServer, calls, reply, text
from tests.model.dialects import DIALECTS
from tests.model.faults import FAULTS
from tests.project import Project

OPENAI = DIALECTS[0]
QUICK = {"AGENTCTL_BACKOFF": "0.01", "AGENTCTL_WARM": "0.5"}
ITEMS = ("One", "Two", "Three", "Four")

# Whatever passes or can be mended, but for those that would make the test wait, or only mend where there is something to leave out.
PASSING = [
    *(
        fault.answer(OPENAI)
        for fault in FAULTS
        if fault.kind in {Kind.WAIT, Kind.MEND} and fault.wait is None and fault.reason not in {Reason.TOO_LONG, Reason.TIMEOUT}
    ),
    Answer(b"{}", 429, {"Retry-After": "0.05"}),
    text("And th", finish="length"),
    calls(("write", {"path": "never.py", "content": "ne"}), finish="length"),
    calls(("write", '{"path": "never.py", "conte')),
    calls(("reed", {"path": "calc.py"})),
    calls(("read", "[1, 2]")),
    reply({"tool_calls": [{"id": "x", "type": "function", "function": {"name": "read", "arguments": '{"path": 3}'}}]}),
    text("I am thinking about it."),
]


def script() -> list[Answer]:
    """What the model says in a run of four items: seven replies each."""
    answers = []
    for number, title in enumerate(ITEMS):
        work = (
            ("edit", {"path": "calc.py", "old": "a - b", "new": "a + b"}) if number == 0 else ("write", {"path": f"{title}.py", "content": "x = 1\n"})
        )
        answers += [
            calls(("list", {})),
            calls(("read", {"path": "calc.py"})),
            calls(work, said=f"Now {title}."),
            calls(("run", {"command": f"cat calc.py | head -{number + 1}"})),
            calls(("search", {"pattern": f"add{number}"})),
            calls(("remember", {"title": f"Lesson {title}", "text": f"What {title} took, in words of its own."})),
            calls(("finish", {"note": f"{title} is done as it was asked for.", "letter": f"After {title} comes the next."})),
        ]
    return answers


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    with ChatServer() as running:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef0123456789abcdef")
        monkeypatch.setenv("AGENTCTL_API_BASE", running.url)
        monkeypatch.setenv("AGENTCTL_MODEL", "openai/gpt-4o-2024-08-06")
        yield running


def outcome(project: Project) -> Mapping[str, str]:
    """All files of HEAD by name, a note's without its time, what was spent and how long the checks took."""
    found = {}
    for path in project.git("ls-tree", "-r", "--name-only", "HEAD").splitlines():
        lines = project.git("show", f"HEAD:{path}").splitlines()
        name = path.rpartition("-")[2] if "/notes/" in path else path
        found[name] = "\n".join(line for line in lines if not line.startswith(("spent:", "checked:")))
    return found


def finished(project: Project) -> None:
    """The run came to the same end as one without faults."""
    rows = project.agentctl("todo", "--json").json
    assert [(row["state"], row["attempts"]) for row in rows] == [("done", 1)] * len(ITEMS)
    assert project.status() == ""
    files = outcome(project)
    assert files["calc.py"] == "def add(a, b):\n    return a + b"
    assert [name for name in files if name.endswith(".py")] == ["Four.py", "Three.py", "Two.py", "calc.py"]
    for title in ITEMS:
        assert f"{title} is done as it was asked for." in files[f"{title.lower()}.done.md"]
        assert f"After {title} comes the next." in files[f"{title.lower()}.done.md"]
        assert any(f"What {title} took" in files[name] for name in files if "/lessons/" in name)


@pytest.mark.parametrize("name", ["openai/gpt-4o-2024-08-06", "openai/local"], ids=["litellm", "direct"])
def test_each_fault_by_itself_leaves_no_trace_in_tree_list_and_notes(project: Project, server: ChatServer, name: str) -> None:
    """One fault before each reply, each of them once; the run is the undisturbed one's twin."""
    project.items(*ITEMS)
    server.says(*script())
    server.disturb(turn for fault in PASSING for turn in (fault, None))
    ran = project.process("run", env=QUICK | {"AGENTCTL_MODEL": name})
    assert ran.code == 0, ran.err
    assert server.disturbed == len(PASSING)
    assert len(server.requests) == len(script()) + len(PASSING)
    finished(project)


def test_a_fault_in_every_fifth_call_leaves_no_trace_in_tree_list_and_notes(project: Project, server: ChatServer) -> None:
    draw = random.Random(1)  # noqa: S311  # the same faults in every run
    project.items(*ITEMS)
    server.says(*script())
    server.disturb(draw.choice(PASSING) if draw.random() < 0.2 else None for _ in iter(int, 1))
    ran = project.process("run", env=QUICK)
    assert ran.code == 0, ran.err
    assert server.disturbed > 3
    finished(project)


def test_what_a_person_must_mend_ends_a_run_at_once_and_changes_nothing(project: Project, server: ChatServer) -> None:
    project.items(*ITEMS)
    before = project.head()
    server.says(*(fault.answer(OPENAI) for fault in FAULTS if fault.name == "429 without quota"))
    ran = project.process("run", env=QUICK)
    assert (ran.code, len(server.requests)) == (75, 1), ran.err
    assert "no money or quota left" in ran.out + ran.err
    assert (project.head(), project.status()) == (before, "")
