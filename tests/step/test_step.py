"""The protocol of one step, from the lock to the commit."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from agent.lock import locked
from tests.project import ADDS, Project, call, edit, finish, reply

ITEM = "make-add-add"


def good(note: str = "add() adds now.", letter: str = "Next: mul().") -> dict[str, Any]:
    return reply(ADDS, finish(note, letter))


def test_a_green_step_is_one_commit_of_code_and_note(listed: Project) -> None:
    listed.record({ITEM: [[good()]]})
    before = listed.head()
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert listed.git("rev-list", "--count", f"{before}..HEAD").strip() == "1"
    paths = listed.git("show", "--name-only", "--format=", "HEAD").split()
    assert paths[0].startswith(".agent/notes/")
    assert paths[0].endswith(f"-{ITEM}.done.md")
    assert paths[1:] == ["calc.py"]
    assert listed.status() == ""


def test_the_message_carries_the_trailers(listed: Project) -> None:
    listed.record({ITEM: [[good()]]})
    listed.agentctl("step")
    message = listed.git("log", "-1", "--format=%B")
    assert message.startswith(f"{ITEM}: Make add() add\n\nadd() adds now.\n\nAgent-Step: ")
    assert "Agent-Outcome: done\n" in message
    assert "Agent-Tokens: 1000 in, 0 cached, 50 out\nAgent-Cost: 0.0100 USD" in message


def test_proposed_items_and_lessons_land_with_the_step(listed: Project) -> None:
    calls = [
        ADDS,
        call("propose", title="Add mul()", text="a times b", check="sh mul.sh"),
        call("remember", title="No pytest here", text="sh check.sh"),
        finish(),
    ]
    listed.record({ITEM: [[reply(*calls)]]})
    assert listed.agentctl("step").code == 0
    added = listed.git("show", "--name-only", "--format=", "HEAD").split()
    assert [path.split("/")[1] for path in added if path.startswith(".agent/")] == ["lessons", "notes", "todo"]
    rows = listed.agentctl("todo", "--json").json
    assert [(row["title"], row["state"], row["checks"]) for row in rows if row["id"] != ITEM] == [("Add mul()", "open", ["sh mul.sh"])]


def test_a_red_check_goes_back_to_the_worker_who_can_mend_it(listed: Project) -> None:
    listed.record(
        {ITEM: [[reply(edit("calc.py", "a - b", "a * b"), finish("All tests pass!")), reply(edit("calc.py", "a * b", "a + b"), finish("Mended."))]]}
    )
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert "FAILED sh check.sh" in ran.err
    assert "Mended." in listed.git("log", "-1", "--format=%B")


def test_a_step_that_stays_red_is_rolled_back_and_leaves_only_its_note(listed: Project) -> None:
    listed.record(
        {ITEM: [[reply(edit("calc.py", "a - b", "a * b"), call("write", path="new/mul.py", content="x = 1\n"), finish("All tests pass!"))]]}
    )
    before = listed.head()
    ran = listed.agentctl("step")
    assert ran.code == 4
    assert listed.read("calc.py") == "def add(a, b):\n    return a - b\n"
    assert not (listed.root / "new").exists()
    assert listed.status() == ""
    changed = listed.git("diff", "--name-only", before, "HEAD").split()
    assert [path.rpartition(".agent/notes/")[1] for path in changed] == [".agent/notes/"]
    note = listed.read(changed[0])
    assert "sh check.sh" in note
    assert "What the worker said it had done:\n\nAll tests pass!" in note


def test_the_work_of_a_failed_attempt_is_kept_under_its_ref(listed: Project) -> None:
    listed.record({ITEM: [[reply(edit("calc.py", "a - b", "a * b"), call("write", path="mul.py", content="x = 1\n"), finish())]]})
    ref = listed.process("step", "--json").json["attempt"]
    assert "a * b" in listed.git("show", f"{ref}:calc.py")
    assert listed.git("show", f"{ref}:mul.py") == "x = 1\n"
    assert listed.git("for-each-ref", "refs/agentctl/wip") == ""


def test_after_the_last_attempt_the_item_is_blocked_and_the_next_one_is_taken(listed: Project) -> None:
    listed.items("Another item")
    listed.record({"*": [[reply(edit("calc.py", "a - b", "a * b"), finish())]]})
    codes = [listed.agentctl("step").code for _ in range(4)]
    assert codes == [4, 4, 5, 4]
    rows = {row["id"]: row["state"] for row in listed.agentctl("todo", "--json").json}
    assert rows == {ITEM: "blocked", "another-item": "open"}


def test_a_question_blocks_the_item_until_a_person_answers(listed: Project) -> None:
    listed.record({ITEM: [[reply(ADDS, call("ask", question="Should add() take floats?"))], [good()]]})
    assert listed.agentctl("step").code == 6
    assert listed.read("calc.py").endswith("a - b\n")
    assert "Should add() take floats?" in listed.agentctl("todo").out
    assert listed.agentctl("step").code == 6
    assert listed.agentctl("todo", "reopen", ITEM, "--because", "Yes, floats too.").code == 0
    assert "Yes, floats too." in listed.agentctl("context").out
    assert listed.agentctl("step").code == 0


def test_untracked_files_of_the_person_are_neither_committed_nor_touched(listed: Project) -> None:
    listed.write("mine.txt", "mine\n")
    listed.write("scratch/deep.txt", "mine too\n")
    listed.record({ITEM: [[good()]]})
    assert listed.agentctl("step").code == 0
    assert listed.status() == "?? mine.txt\n?? scratch/\n"


def test_an_untracked_file_that_a_tool_wrote_over_comes_back_when_the_step_fails(listed: Project) -> None:
    listed.write("mine.sh", "mine\n").chmod(0o755)
    listed.record({ITEM: [[reply(call("write", path="mine.sh", content="theirs\n"), finish())]]})
    assert listed.agentctl("step").code == 4
    assert listed.read("mine.sh") == "mine\n"
    assert (listed.root / "mine.sh").stat().st_mode & 0o777 == 0o755


def test_a_file_that_a_command_made_lands_only_when_the_note_names_it(listed: Project) -> None:
    run = call("run", command="echo x > made.txt; mkdir -p out; echo y > out/log.txt")
    listed.record(
        {
            ITEM: [
                [
                    reply(ADDS, run, finish("add() adds; made.txt is new.")),
                    reply(call("run", command="rm -r out"), finish("add() adds; made.txt is new.")),
                ]
            ]
        }
    )
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert "made.txt" in listed.git("show", "--name-only", "--format=", "HEAD").split()
    assert listed.status() == ""


def test_what_a_command_made_is_gone_after_a_failed_step(listed: Project) -> None:
    listed.record({ITEM: [[reply(call("run", command="mkdir -p out; echo y > out/log.txt; echo z >> calc.py"), finish("out/ is new"))]]})
    assert listed.agentctl("step").code == 4
    assert listed.status() == ""


def test_a_finish_without_any_change_is_not_done(listed: Project) -> None:
    listed.record({ITEM: [[reply(finish("All done!"))]]})
    listed.write("check.sh", "true\n")
    listed.commit("a check that is green before")
    assert listed.agentctl("step").code == 4
    assert listed.agentctl("todo", "--json").json[0]["state"] == "open"


def test_an_item_to_look_into_needs_no_change(project: Project) -> None:
    project.write("check.sh", "true\n")
    project.commit("green")
    project.agentctl("todo", "add", "Review calc.py", "--allow", "no-change")
    project.record({"review-calc-py": [[reply(finish("calc.py subtracts where it should add."))]]})
    assert project.agentctl("step").code == 0
    assert "calc.py subtracts" in project.agentctl("note").out


@pytest.mark.parametrize("add", [("todo", "add", "Review calc.py"), ("plan", "--each", "calc.py", "--title", "Review {path}")], ids=["todo", "each"])
def test_a_review_lands_by_its_note_without_being_told_that_it_may(project: Project, add: tuple[str, ...]) -> None:
    project.write("check.sh", "true\n")
    project.commit("green")
    assert project.agentctl(*add).code == 0
    assert "allow  no-change" in project.agentctl("todo", "show", "review-calc-py").out
    project.record({"review-calc-py": [[reply(finish("calc.py subtracts where it should add."))]]})
    assert project.agentctl("step").code == 0


def nobody(project: Project) -> None:
    project.git("config", "user.useConfigOnly", "true")
    os.environ["HOME"] = str(project.root.parent)


@pytest.mark.parametrize(
    ("prepare", "said", "mend"),
    [
        (lambda p: p.write("calc.py", "x\n"), "tracked files are modified: calc.py", "git stash"),
        (lambda p: (p.write("calc.py", "x\n"), p.git("add", "calc.py")), "work is staged: calc.py", "git commit"),
        (lambda p: p.git("checkout", "--quiet", "--detach"), "HEAD is detached", "git switch -c NAME"),
        (nobody, "git doesn't know who you are", "git config user.name"),
        (lambda p: (p.root / ".git/MERGE_HEAD").write_text(p.head() + "\n"), "a merge is under way", "git merge --abort"),
    ],
)
def test_a_step_refuses_what_is_unsafe_before_any_model_call(listed: Project, prepare: Callable[[Project], object], said: str, mend: str) -> None:
    listed.record({ITEM: [[good()]]})
    prepare(listed)
    before = listed.status()
    ran = listed.agentctl("step")
    assert (ran.code, said in ran.err, mend in ran.err) == (1, True, True), ran.err
    assert listed.status() == before
    assert not (listed.root / ".git/agentctl/ledger.jsonl").exists()


def test_every_call_is_in_the_ledger_even_of_a_failed_attempt(listed: Project) -> None:
    listed.record({ITEM: [[reply(edit("calc.py", "a - b", "a * b"), finish(), usd=0.25), reply(finish(), usd=0.5)]]})
    assert listed.agentctl("step").code == 4
    assert listed.agentctl("cost", "--json").json["total"]["usd"] == 0.75
    listed.git("revert", "--no-edit", "HEAD")
    assert listed.agentctl("cost", "--json").json["total"]["usd"] == 0.75


@pytest.mark.usefixtures("unconfined")
def test_a_commit_of_a_person_to_the_list_during_the_step_does_not_spoil_it(listed: Project) -> None:
    add = call(
        "run",
        command="printf '# Another\\n' > .agent/todo/another.md && git add .agent && env -u GIT_COMMITTER_NAME -u GIT_COMMITTER_EMAIL git commit -qm 'Add an item'",
    )
    listed.record({ITEM: [[reply(add), good()]]})
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert listed.git("log", "--format=%s", "-2").split("\n")[1] == "Add an item"


@pytest.mark.usefixtures("unconfined")
def test_a_commit_to_the_code_during_the_step_ends_it_and_stays(listed: Project) -> None:
    meddle = call(
        "run", command="echo 'x = 1' > other.py && git add other.py && env -u GIT_COMMITTER_NAME -u GIT_COMMITTER_EMAIL git commit -qm meddling"
    )
    listed.record({ITEM: [[reply(meddle), good()]]})
    ran = listed.agentctl("step")
    assert ran.code == 1
    assert "HEAD moved" in ran.err
    assert listed.git("log", "-1", "--format=%s") == "meddling\n"
    assert listed.read("other.py") == "x = 1\n"
    assert listed.status() == ""


def test_a_second_step_in_the_same_work_tree_names_the_holder(listed: Project) -> None:
    listed.record({ITEM: [[good()]]})
    with locked(listed.root / ".git/agentctl"):
        ran = listed.process("step")
    assert ran.code == 75
    assert "another agentctl (process" in ran.err
