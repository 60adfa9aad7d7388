"""A secret in what a worker writes beside code is refused as one in code is: told by text and line, and written again."""

from __future__ import annotations

from typing import Any

import pytest

from agent.gate.secrets import fingerprint
from tests.project import ADDS, Project, call, finish, reply

ITEM = "make-add-add"
TOKEN = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
TELLS = f"First line.\nThe server wants {TOKEN} in its header."

WAYS: dict[str, tuple[list[Any], str]] = {
    "note": ([finish(note=TELLS)], "Line 2 of your note holds what looks like a GitHub token"),
    "letter": ([finish(letter=TELLS)], "Line 2 of your letter holds what looks like a GitHub token"),
    "lesson": (
        [call("remember", title="The server", text=TELLS), finish()],
        "Line 2 of the lesson “The server” holds what looks like a GitHub token",
    ),
    "a lesson's title": ([call("remember", title=f"Use {TOKEN}", text="So."), finish()], "Line 1 of the title of the lesson “Use [redacted]” holds"),
    "item": ([call("propose", title="Log in", text=TELLS), finish()], "Line 2 of the follow-up item “Log in” holds what looks like a GitHub token"),
    "an item's check": (
        [call("propose", title="Log in", text="Do.", check=f"curl -H {TOKEN} x"), finish()],
        "Line 1 of the check of the follow-up item “Log in” holds",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_it_is_told_by_its_text_and_line_and_never_itself(listed: Project, way: str) -> None:
    calls, told = WAYS[way]
    listed.record({ITEM: [[reply(ADDS, *calls)]]})
    assert listed.agentctl("step").code == 4
    message = " ".join(listed.git("log", "-1", "-p", "--format=").replace("\n+", " ").split())
    assert told in message
    assert TOKEN not in listed.git("log", "--all", "-p")


@pytest.mark.parametrize("way", WAYS)
def test_the_worker_writes_it_again(listed: Project, way: str) -> None:
    again = [call("remember", title="Kept", text="Read the token from the environment."), call("propose", title="Kept too", text="Do."), finish()]
    listed.record({ITEM: [[reply(ADDS, *WAYS[way][0]), reply(*again)]]})
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    added = listed.git("show", "-p", "HEAD")
    assert TOKEN not in added
    assert "[redacted]" not in added
    assert "# Kept" in added
    assert "# Kept too" in added
    assert "# The server" not in added
    assert "# Log in" not in added


def test_what_a_person_let_through_passes(listed: Project) -> None:
    path = f".agent/todo/{ITEM}.md"
    listed.write(path, f"---\nallow: [no-secret-{fingerprint(TOKEN)}]\n---\n{listed.read(path)}")
    listed.commit("It is an example")
    listed.record({ITEM: [[reply(ADDS, *WAYS["lesson"][0])]]})
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert "# The server" in listed.git("show", "-p", "HEAD")


def test_a_secret_in_the_name_of_a_new_file_is_told_and_never_itself(listed: Project) -> None:
    listed.record({ITEM: [[reply(ADDS, call("write", path=f"logs/{TOKEN}.txt", content="x\n"), finish())]]})
    assert listed.agentctl("step").code == 4
    message = listed.git("log", "-1", "-p", "--format=")
    assert "of the names of new files holds what looks like a GitHub token" in " ".join(message.replace("\n+", " ").split())
    assert TOKEN not in message
