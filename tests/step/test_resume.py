"""A step that is broken off, however that comes about, is gone on from: its work and what it noted, and nobody else's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.actions.paused import all_paused
from agent.domain.progress import Progress, Proposed, Remembered, Unfinished, parse_unfinished, render_unfinished
from agent.domain.usage import Usage
from agent.journal import Journal
from agent.repository.repo import discover
from tests.project import SOURCE, Project, call, edit, finish, reply
from tests.step.test_step import ITEM, good

pytestmark = pytest.mark.usefixtures("unconfined")  # commands here kill agentctl

DIES = call("run", command="kill -9 $PPID")


def dies_after(*calls: dict[str, Any]) -> list[dict[str, Any]]:
    """A session that makes `calls`, and whose agentctl is killed in the next one."""
    return [reply(*calls), reply(DIES)]


def broken_off(project: Project, *calls: dict[str, Any]) -> None:
    project.record({ITEM: [dies_after(*calls)]})
    assert project.process("step").code == -signal.SIGKILL


def texts(max_size: int) -> st.SearchStrategy[str]:
    return st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=max_size)


@given(
    st.builds(
        Unfinished,
        step=texts(20),
        item=texts(20),
        progress=st.builds(
            Progress,
            calls=st.integers(0, 99),
            usage=st.builds(Usage, st.none() | st.floats(0, 9), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.floats(0, 9)),
            lessons=st.lists(st.builds(Remembered, texts(9), texts(9)), max_size=3).map(tuple),
            proposals=st.lists(st.builds(Proposed, texts(9), texts(9), texts(9)), max_size=3).map(tuple),
            deeds=st.lists(texts(9), max_size=3).map(tuple),
            said=texts(20),
        ),
        made=st.lists(texts(9), max_size=3).map(tuple),
        over=st.dictionaries(texts(9), texts(9), max_size=3),
        carried=st.dictionaries(texts(9), st.builds(Usage, st.none() | st.floats(0, 9), st.integers(0, 9)), max_size=3),
    )
)
def test_what_is_kept_of_any_session_reads_back_as_it_was(unfinished: Unfinished) -> None:
    assert parse_unfinished(render_unfinished(unfinished)) == unfinished


def test_a_killed_step_is_gone_on_from_and_lands_with_the_work_of_both_sessions(listed: Project) -> None:
    broken_off(listed, edit("calc.py", "a - b", "a + b"), call("write", path="new.py", content="n = 1\n"))
    assert listed.status() != ""
    listed.record({ITEM: [[reply(finish())]]})
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert "died during" in ran.err
    assert (listed.read("calc.py"), listed.read("new.py")) == ("def add(a, b):\n    return a + b\n", "n = 1\n")
    assert listed.git("show", "--format=", "--name-only").split()[1:] == ["calc.py", "new.py"]
    assert (listed.status(), listed.git("for-each-ref", "refs/agentctl/paused", "refs/agentctl/wip")) == ("", "")


def test_the_brief_of_a_resumed_session_begins_with_what_was_noted_and_changed(listed: Project) -> None:
    noted = call("remember", title="The port is taken", text="Use port 0.")
    broken_off(listed, noted, call("propose", title="Add mul", text="mul() multiplies."), edit("calc.py", "a - b", "a * b"))
    assert listed.agentctl("doctor", "--fix").code == 0
    told = listed.agentctl("step", "--dry-run").out
    resumed = told[told.index("# An interrupted session") : told.index("# The list")]
    assert "was interrupted, so this one is resumed" in resumed
    assert "- M calc.py" in resumed
    assert "- lesson: The port is taken" in resumed
    assert "- follow-up item: Add mul" in resumed
    assert "- edit calc.py: " in resumed
    assert "kill -9 $PPID: it was at work when the session ended" in resumed
    assert told.index("# An interrupted session") < told.index("# Goal")


def test_lessons_and_items_of_the_first_session_land_with_the_second(listed: Project) -> None:
    broken_off(listed, call("remember", title="The port is taken", text="Use port 0."), edit("calc.py", "a - b", "a + b"))
    listed.record({ITEM: [[reply(finish())]]})
    assert listed.agentctl("step").code == 0
    assert "Use port 0." in next((listed.root / ".agent/lessons").iterdir()).read_text("utf-8")


def test_what_both_sessions_spent_is_in_the_note_and_counted_once(listed: Project) -> None:
    broken_off(listed, edit("calc.py", "a - b", "a + b"))
    listed.record({ITEM: [[reply(finish())]]})
    assert listed.agentctl("step").code == 0
    note = next((listed.root / ".agent/notes").rglob("*.done.md"))
    assert "usd: 0.03" in note.read_text("utf-8")
    assert listed.agentctl("cost", "--json").json["total"]["usd"] == pytest.approx(0.03)


def _costs(project: Project) -> list[float]:
    """USD in all, and of each step in the log, to a thousandth."""
    sums = [project.agentctl("cost", "--json").json["total"], *project.agentctl("log", "--json").json]
    return [round(one["usd"], 3) for one in sums]


def test_each_session_counts_once_and_in_its_step_in_any_clone_whichever_of_them_paid_there(listed: Project) -> None:
    broken_off(listed, edit("calc.py", "a - b", "a + b"))
    first = (listed.root / ".git/agentctl/ledger.jsonl").read_bytes()
    listed.record({ITEM: [[reply(finish())]]})
    assert listed.agentctl("step").code == 0
    whole = (listed.root / ".git/agentctl/ledger.jsonl").read_bytes()
    note = next((listed.root / ".agent/notes").rglob("*.done.md"))
    for known in (b"", first, whole.removeprefix(first), whole):
        (listed.root / ".git/agentctl/ledger.jsonl").write_bytes(known)
        assert _costs(listed) == [0.03, 0.03]
    told_by_nothing = listed.git("commit-tree", "HEAD^{tree}", "-m", "all of it in one commit that tells of no step").strip()
    listed.git("reset", "--hard", "--quiet", told_by_nothing)
    for known in (b"", first, whole):
        (listed.root / ".git/agentctl/ledger.jsonl").write_bytes(known)
        assert (note.exists(), _costs(listed)) == (True, [0.03, 0.03])


def test_a_session_that_only_went_on_and_called_no_model_adds_nothing_to_what_was_spent(listed: Project) -> None:
    listed.write(".agent/config.yaml", listed.read(".agent/config.yaml") + "limits:\n  calls: 1\n")
    listed.commit("one call at most")
    listed.record({ITEM: [[reply(call("list"), DIES)]]})
    assert listed.process("step").code == -signal.SIGKILL
    ran = listed.agentctl("step")
    assert (ran.code, "used all 1 model calls" in listed.agentctl("note").out) == (5, True), ran.err
    assert listed.agentctl("cost", "--json").json["total"]["usd"] == pytest.approx(0.01)


def test_calls_of_a_session_that_was_broken_off_count_against_the_steps_limits(listed: Project) -> None:
    listed.write(".agent/config.yaml", listed.read(".agent/config.yaml") + "limits:\n  calls: 2\n")
    listed.commit("two calls at most")
    broken_off(listed, edit("calc.py", "a - b", "a * b"))
    listed.record({ITEM: [[good()]]})
    ran = listed.agentctl("step")
    assert ran.code == 5, ran.err
    assert "used all 2 model calls" in listed.agentctl("note").out
    assert listed.read("calc.py").endswith("a - b\n")


def test_the_call_in_flight_is_all_that_a_kill_loses(listed: Project) -> None:
    listed.record({ITEM: [[reply(edit("calc.py", "a - b", "a + b")), reply(call("run", command="echo half > half.py; kill -9 $PPID"))]]})
    assert listed.process("step").code == -signal.SIGKILL
    listed.record({ITEM: [[reply(finish())]]})
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert not (listed.root / "half.py").exists()
    attempt = listed.git("for-each-ref", "--format=%(refname)", "refs/agentctl/attempts").strip()
    assert listed.git("show", f"{attempt}:half.py") == "half\n"


def test_a_file_that_a_command_had_made_still_lands_only_when_the_note_names_it(listed: Project) -> None:
    broken_off(listed, edit("calc.py", "a - b", "a + b"), call("run", command="echo made > made.txt"))
    listed.record({ITEM: [[reply(finish()), reply(call("run", command="rm made.txt"), finish())]]})
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert ran.err.count("handed in") == 2, "the first was refused, since nobody had named made.txt"


def test_a_restart_begins_anew_and_keeps_the_work_as_an_attempt(listed: Project) -> None:
    broken_off(listed, edit("calc.py", "a - b", "a * b"), call("write", path="new.py", content="n\n"))
    listed.record({ITEM: [[good()]]})
    ran = listed.agentctl("step", "--restart")
    assert ran.code == 0, ran.err
    assert not (listed.root / "new.py").exists()
    assert "a * b" in listed.git("show", listed.git("for-each-ref", "--format=%(refname)", "refs/agentctl/attempts").strip() + ":calc.py")
    assert listed.git("for-each-ref", "refs/agentctl/paused") == ""


def test_status_says_what_was_broken_off(listed: Project) -> None:
    broken_off(listed, edit("calc.py", "a - b", "a * b"))
    assert listed.agentctl("doctor", "--fix").code == 0
    paused = listed.agentctl("status", "--json").json["paused"]
    assert [name.endswith(ITEM) for name in paused] == [True]
    assert f"{paused[0]}; agentctl step goes on from there" in listed.agentctl("status").out


# --- people meanwhile ---------------------------------------------------------------------------------------------------


def test_work_is_gone_on_from_on_top_of_what_people_committed_meanwhile(listed: Project) -> None:
    broken_off(listed, edit("calc.py", "a - b", "a + b"))
    assert listed.agentctl("doctor", "--fix").code == 0
    listed.write("other.py", "x = 1\n")
    listed.commit("something else")
    listed.record({ITEM: [[reply(finish())]]})
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert (listed.read("other.py"), listed.read("calc.py")) == ("x = 1\n", "def add(a, b):\n    return a + b\n")


def test_work_that_conflicts_with_a_persons_commit_is_set_aside_and_told(listed: Project) -> None:
    broken_off(listed, edit("calc.py", "a - b", "a * b"))
    assert listed.agentctl("doctor", "--fix").code == 0
    listed.write("calc.py", "def add(a, b):\n    return b - a\n")
    listed.commit("the other way round")
    listed.record({ITEM: [[reply(edit("calc.py", "b - a", "a + b"), finish())]]})
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert "can't be gone on from: what was committed since conflicts with it; its work is in refs/agentctl/attempts/" in ran.err


def test_a_file_of_the_persons_where_the_work_has_one_is_not_written_over(listed: Project) -> None:
    broken_off(listed, call("write", path="new.py", content="theirs\n"))
    assert listed.agentctl("doctor", "--fix").code == 0
    listed.write("new.py", "mine\n")
    listed.record({ITEM: [[good()]]})
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert "a file of yours is where one of its files was: new.py" in ran.err
    assert listed.read("new.py") == "mine\n"


def test_a_file_of_the_persons_that_was_written_over_comes_back_and_is_written_over_again(listed: Project) -> None:
    listed.write("mine.sh", "mine\n")
    broken_off(listed, call("write", path="mine.sh", content="theirs\n"), edit("calc.py", "a - b", "a + b"))
    assert listed.agentctl("doctor", "--fix").code == 0
    assert listed.read("mine.sh") == "mine\n"
    listed.record({ITEM: [[reply(finish())]]})
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert listed.read("mine.sh") == "theirs\n"
    assert listed.git("for-each-ref", "refs/agentctl/kept") != ""


# --- signals ------------------------------------------------------------------------------------------------------------


def started(project: Project, *args: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "agent", *args],
        cwd=project.root,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def once_there(file: Path) -> None:
    deadline = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < deadline, f"{file} never came"
        time.sleep(0.02)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)])
def test_a_signal_ends_the_tool_puts_the_tree_back_and_keeps_the_work(listed: Project, tmp_path: Path, number: int, code: int) -> None:
    at_work = tmp_path / "at-work"
    listed.record({ITEM: [[reply(edit("calc.py", "a - b", "a + b")), reply(call("run", command=f"touch {at_work}; sleep 300"))]]})
    process = started(listed, "step")
    once_there(at_work)
    began = time.monotonic()
    process.send_signal(number)
    said = process.communicate(timeout=60)[1].decode()
    assert (process.returncode, time.monotonic() - began < 5) == (code, True), said
    assert "agentctl step goes on from there" in said
    assert listed.status() == ""
    assert [one.unfinished.item for one in all_paused(discover(listed.root))] == [ITEM]
    listed.record({ITEM: [[reply(finish())]]})
    assert listed.agentctl("step").code == 0


def test_a_second_signal_leaves_at_once_and_the_next_step_goes_on(listed: Project, tmp_path: Path) -> None:
    at_work = tmp_path / "at-work"
    stubborn = f"trap '' TERM; touch {at_work}; while :; do sleep 0.05; done"
    listed.record({ITEM: [[reply(edit("calc.py", "a - b", "a + b")), reply(call("run", command=stubborn))]]})
    process = started(listed, "step")
    once_there(at_work)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.3)
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert (process.returncode, time.monotonic() - began < 1) == (143, True)
    listed.record({ITEM: [[reply(finish())]]})
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert still_at_work(at_work) == []


def still_at_work(mark: Path) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if str(mark).encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def test_a_hangup_that_was_to_be_ignored_is_ignored(listed: Project) -> None:
    listed.record({ITEM: [[reply(call("run", command="kill -HUP $PPID"), edit("calc.py", "a - b", "a + b"), finish())]]})
    ran = subprocess.run(
        ["nohup", sys.executable, "-m", "agent", "step"],
        cwd=listed.root, env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr


# --- at the commit ------------------------------------------------------------------------------------------------------

KILLS_ONCE = """#!/bin/sh
[ -e .git/once ] && exit 0
touch .git/once
kill -9 $(ps -o ppid= -p $PPID)
sleep 1
exit 1
"""


def test_a_commit_that_was_about_to_be_made_is_made(listed: Project) -> None:
    listed.write(".git/hooks/pre-commit", KILLS_ONCE).chmod(0o755)
    listed.record({ITEM: [[good()]]})
    assert listed.process("step").code == -signal.SIGKILL
    assert Journal(discover(listed.root).private).read() is not None
    base = listed.head()
    ran = listed.agentctl("step")
    assert ran.code == 3, ran.err
    assert "was about to be committed; that is done now" in ran.err
    assert listed.git("rev-parse", "HEAD^").strip() == base
    assert "Agent-Outcome: done" in listed.git("log", "-1", "--format=%B")
    assert listed.status() == ""


def test_the_note_of_a_failed_attempt_is_not_lost_to_a_kill(listed: Project) -> None:
    listed.write(".git/hooks/pre-commit", KILLS_ONCE).chmod(0o755)
    listed.record({ITEM: [[reply(edit("calc.py", "a - b", "a * b"), finish())]]})
    assert listed.process("step").code == -signal.SIGKILL
    listed.record({ITEM: [[good()]]})
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert "was about to be committed; that is done now" in ran.err
    assert [line["outcome"] for line in listed.agentctl("log", "--json").json] == ["done", "failed"]


# --- locks --------------------------------------------------------------------------------------------------------------


def test_a_lock_that_our_own_git_left_is_taken_away(listed: Project) -> None:
    broken_off(listed, edit("calc.py", "a - b", "a + b"))
    listed.write(".git/index.lock", "")
    listed.record({ITEM: [[reply(finish())]]})
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert not (listed.root / ".git/index.lock").exists()


def test_a_lock_that_somebody_holds_stays(listed: Project) -> None:
    broken_off(listed, edit("calc.py", "a - b", "a + b"))
    with (listed.root / ".git/index.lock").open("w"):
        ran = listed.agentctl("step")
        assert ran.code == 1, ran.err
        assert "index.lock is there" in ran.err
    assert (listed.root / ".git/index.lock").exists()


def test_a_lock_older_than_the_step_is_not_ours(listed: Project) -> None:
    broken_off(listed, edit("calc.py", "a - b", "a + b"))
    lock = listed.write(".git/index.lock", "")
    os.utime(lock, (1, 1))
    assert listed.agentctl("step").code == 1
    assert lock.exists()
