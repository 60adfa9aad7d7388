"""Cases of kind e: undo, reverts by hand, crashes, and what is left of a failed step."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.cases.adapter import answers, called, changed, good, lands, only_a_note, refused
from tests.cases.conftest import Case
from tests.project import SOURCE, Project, call, edit, finish, reply

WRONG = "def add(a, b):\n    return a - b\n"


def stepped(case: Case, more: str = "") -> Project:
    """A repository with a landed step at t1, then `more`."""
    project = case(f"mkrepo; echo v1 > other.py; git add -A; git commit -qm other; {more}")
    lands(project)
    return project


def test_case_98_undo_touches_nothing_that_is_not_the_steps(case: Case) -> None:
    project = stepped(case)
    project.write("other.py", "v1\nmy work\n")
    project.write("scratch.txt", "new\n")
    ran = project.agentctl("undo", "t1", "--because", "Not like this.")
    assert ran.code == 0, ran.err
    assert project.read("calc.py") == WRONG
    assert project.status() == " M other.py\n?? scratch.txt\n"
    assert project.read("other.py") == "v1\nmy work\n"
    assert project.git("log", "-1", "--format=%s").startswith('Revert "t1: ')


def test_case_98_a_file_of_the_step_with_work_in_it_is_named_and_stays(case: Case) -> None:
    project = stepped(case)
    before = project.head()
    project.write("calc.py", project.read("calc.py") + "# mine\n")
    refused_undo(project, "calc.py")
    assert project.read("calc.py").endswith("# mine\n")
    assert project.head() == before


def refused_undo(project: Project, *words: str) -> None:
    ran = project.agentctl("undo", "t1", "--because", "No.")
    assert ran.code not in (0, 70), ran.err
    assert not [word for word in words if word not in ran.err], ran.err
    assert "Traceback" not in ran.err


def test_case_100_a_step_in_the_first_commit_is_told_apart_in_plain_words(case: Case) -> None:
    project = case("""
        git init -q repo; cd repo; echo mine > user.txt; seed; mkdir -p .agent/notes/2026-01-02
        printf '# Make add() add\\n\\nWith the first commit.\\n' > .agent/notes/2026-01-02/030405-t1.done.md
        git add calc.py check.sh .agent; git commit -qm 'first step' -m 'Agent-Step: 2026-01-02-030405-t1'
        not git rev-parse -q --verify HEAD~1; test -f user.txt""")
    before = project.head()
    refused_undo(project, "first commit", "agentctl todo reopen t1")
    assert "fatal" not in project.agentctl("undo", "HEAD", "--because", "No.").err
    assert (project.head(), project.read("user.txt")) == (before, "mine\n")


def test_case_101_where_there_is_nothing_to_undo_no_file_is_touched(case: Case) -> None:
    project = case("""
        mkrepo; git commit -q --allow-empty -m 'T1 looked around' -m 'Agent-Step: 2026-01-02-030405-t1'; echo dirty >> calc.py""")
    before = project.head(), project.status()
    refused_undo(project, "no step at t1 has landed")
    ran = project.agentctl("undo", "HEAD", "--because", "No.")
    assert (ran.code, "Traceback" in ran.err) == (1, False), ran.err
    assert (project.head(), project.status()) == before
    assert project.read("calc.py") == f"{WRONG}dirty\n"


def test_case_103_after_a_plain_revert_the_item_is_open_and_the_next_session_is_told_why(case: Case) -> None:
    project = stepped(case)
    project.git("revert", "--no-edit", "HEAD")
    project.git(
        "commit",
        "--quiet",
        "--amend",
        "-m",
        "Revert the sum\n\nIt broke the invoices of Acme.\n\nThis reverts commit " + project.git("rev-parse", "HEAD~1"),
    )
    assert [row["state"] for row in project.agentctl("todo", "--json").json] == ["open", "open"]
    brief = project.agentctl("context", "t1").out
    assert "It broke the invoices of Acme." in brief
    assert "add() now adds." in brief
    lands(project)


def test_case_103_a_revert_of_the_code_alone_is_told_as_a_mismatch(case: Case) -> None:
    project = stepped(case)
    step = project.head()
    project.git("revert", "--no-commit", "HEAD")
    project.git("restore", "--staged", "--worktree", "--source=HEAD", "--", ".agent")
    project.git("commit", "--quiet", "-m", "only the code")
    ran = project.agentctl("status")
    assert ran.code == 0
    assert "t1" in ran.out + ran.err
    assert "reopen" in ran.out + ran.err or "revert" in ran.out + ran.err, (step, ran)


def test_case_104_an_undo_that_conflicts_changes_nothing(case: Case) -> None:
    project = case("mkrepo; printf 'exit 0\\n' > check.sh; git commit -qam green")
    lands(project)
    answers(
        project,
        reply(call("write", path="calc.py", content="def add(a, b):\n    return int(a) + int(b)\n\n\ndef sub(a, b):\n    return a - b\n"), finish()),
    )
    assert project.agentctl("step").code == 0
    before = project.head()
    refused_undo(project, "calc.py")
    assert (project.head(), project.status()) == (before, "")
    assert not (project.root / ".git/REVERT_HEAD").exists()


def test_case_104_steps_one_after_the_other_can_be_reverted_in_any_order(case: Case) -> None:
    project = case("mkrepo; printf 'exit 0\\n' > check.sh; git commit -qam green")
    lands(project)
    first = project.head()
    answers(project, reply(call("write", path="sub.py", content="def sub(a, b):\n    return a - b\n"), finish("sub() subtracts.", "All is done.")))
    assert project.agentctl("step").code == 0
    project.git("revert", "--no-edit", first)
    assert {row["id"]: row["state"] for row in project.agentctl("todo", "--json").json} == {"t1": "open", "t2": "done"}


def test_case_106_of_notes_without_end_the_brief_holds_the_newest_and_says_what_it_leaves_out(case: Case) -> None:
    project = case(r"""
        mkrepo; mkdir .agent/notes
        for d in 01 02 03 04 05 06 07 08 09; do mkdir .agent/notes/2026-01-$d
          for i in $(seq -w 0 59); do printf '# Note\n\nnote %s\n\n## Handoff\n\nletter %s\n' $d$i $d$i > .agent/notes/2026-01-$d/1200$i-t2.failed.md; done; done
        printf '# Note\n\nlast\n\n## Handoff\n\nNEWEST: do not touch billing\n' > .agent/notes/2026-01-09/130000-t2.reopened.md
        git add -A; git commit -qm many""")
    brief = project.agentctl("context", "t2", "--json").json
    assert "NEWEST: do not touch billing" in brief["text"]
    assert "left out" in brief["text"]
    assert brief["tokens"] < 14_000
    lands(project)


def test_case_106_a_letter_of_megabytes_blocks_nothing(case: Case) -> None:
    project = case(r"""
        mkrepo; mkdir -p .agent/notes/2026-01-01
        (printf '# Note\n\n## Handoff\n\nSTART '; head -c 2000000 /dev/zero | tr '\0' x) > .agent/notes/2026-01-01/120000-t2.failed.md
        git add -A; git commit -qm long""")
    began = time.monotonic()
    brief = project.agentctl("context", "t1", "--json").json
    assert "START" in brief["text"]
    assert brief["tokens"] < 14_000
    lands(project)
    assert time.monotonic() - began < 20


def test_case_107_a_file_of_the_memory_that_was_cut_off_is_named_with_the_way_back(case: Case) -> None:
    project = case("mkrepo; cp .agent/todo/t1.md ../full; head -c 5 ../full > .agent/todo/t1.md; : > .agent/config.yaml")
    before = project.status()
    refused(
        project,
        project.agentctl("step"),
        "files in .agent/ differ from HEAD: .agent/config.yaml, .agent/todo/t1.md",
        "git restore -- .agent/config.yaml",
    )
    assert project.status() == before
    assert [row["title"] for row in project.agentctl("todo", "--json").json] == ["Make add() add", "Add sub()"]


@pytest.mark.parametrize("after", [0.1, 0.5])
def test_case_107_a_kill_at_any_moment_leaves_a_memory_that_reads(case: Case, after: float) -> None:
    project = case("mkrepo; printf 'sleep 0.1; grep -q \"a + b\" calc.py\\n' > check.sh; git commit -qam slow")
    answers(project, good(call("propose", title="Add mul()", text="a times b")))
    step = subprocess.Popen(
        [sys.executable, "-m", "agent", "step"], cwd=project.root, env={**os.environ, "PYTHONPATH": str(SOURCE)}, stderr=subprocess.PIPE, text=True
    )
    assert step.stderr is not None
    while "base checks" not in (line := step.stderr.readline()) and line:
        pass
    time.sleep(after)
    step.send_signal(signal.SIGKILL)
    step.communicate()
    assert project.agentctl("status").code == 0
    (project.root / ".git/index.lock").unlink(missing_ok=True)  # git died with it: a step says so, and who must remove it
    still_open = [row["id"] for row in project.agentctl("todo", "--json").json if row["state"] == "open"]
    ran = project.agentctl("step", still_open[0])
    assert ran.code in (0, 4), ran.err
    assert project.status() == ""
    assert project.git("fsck", "--no-dangling") == ""


def test_case_109_ids_that_are_gone_and_squashed_trailers_are_read(case: Case) -> None:
    project = case(r"""
        mkrepo; mkdir -p .agent/notes/2026-01-02
        printf '# Note\n\ncommit: 0123456789abcdef0123456789abcdef01234567\n\n## Handoff\n\nlast commit: deadbeef\n' > .agent/notes/2026-01-02/030405-t0.done.md
        printf '# Note\n\nThe other half.\n' > .agent/notes/2026-01-02/030406-t0b.done.md
        git add -A; git commit -qm 'squashed work' -m 'Agent-Step: 2026-01-02-030405-t0
Agent-Outcome: done
Agent-Step: 2026-01-02-030406-t0b
Agent-Outcome: done'
        not git cat-file -e 0123456789abcdef0123456789abcdef01234567 2>/dev/null""")
    ran = lands(project)
    assert "bad object" not in ran.err
    assert [line["step"] for line in project.agentctl("log", "--json").json][1:] == ["2026-01-02-030406-t0b", "2026-01-02-030405-t0"]
    assert "deadbeef" in project.agentctl("note", "t0").out


DIRTY = "mkrepo; mkdir lib; echo base > lib/a.py; echo base > lib/b.py; git add -A; git commit -qm lib; {}; echo untracked > lib/c.py; git stash list > ../stashes"


def test_case_110_a_dirty_tree_is_refused_before_anything_happens(case: Case) -> None:
    project = case(DIRTY.format("echo 'days of work' >> lib/b.py"))
    answers(project, reply(edit("lib/a.py", "base", "broken"), finish()))
    before = project.status()
    refused(project, project.agentctl("step"), "tracked files are modified: lib/b.py", "git commit")
    assert (project.status(), project.read("lib/b.py")) == (before, "base\ndays of work\n")


def test_case_110_a_failed_step_takes_back_its_own_and_nothing_else(case: Case) -> None:
    project = case(
        DIRTY.format(
            "echo 'other work' > lib/b.py; git stash -q; echo ignored.txt > .gitignore; git add .gitignore; git commit -qm i; echo x > ignored.txt"
        )
    )
    before = project.head(), project.git("stash", "list"), project.git("ls-files", "--stage", "--", "lib", "calc.py")
    answers(
        project,
        reply(
            edit("lib/a.py", "base", "broken"),
            call("write", path="lib/new.py", content="x = 1\n"),
            call("run", command="rm lib/b.py"),
            finish("All done!"),
        ),
    )
    assert project.agentctl("step").code == 4
    assert [project.read(f"lib/{name}.py") for name in "abc"] == ["base\n", "base\n", "untracked\n"]
    assert not (project.root / "lib/new.py").exists()
    assert project.read("ignored.txt") == "x\n"
    assert project.git("stash", "list") == before[1]
    assert project.git("ls-files", "--stage", "--", "lib", "calc.py") == before[2]
    only_a_note(project, before[0])


@pytest.mark.usefixtures("unconfined")
def test_case_110_what_a_command_stages_is_not_the_persons_any_more_nor_lost(case: Case) -> None:
    project = case("mkrepo; echo 'TOKEN=not-a-real-one' > .env")
    lands(project, call("run", command="git add -A"))
    assert changed(project) == ["calc.py"]
    assert project.status() == "?? .env\n"
    assert called(project) == 1
