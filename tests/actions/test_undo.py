"""Undo is `git revert` with a reason, takes nothing of the person's along, and leaves nothing half-done."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.actions.scene import brief_for
from agent.domain.memory import Record
from agent.domain.message import reason_of, told_in
from agent.domain.names import Outcome
from agent.domain.todo import State, tidy_text
from agent.domain.undoing import undo_message, written_reason
from agent.errors import AgentctlError
from agent.journal import Entry, Journal
from agent.lock import locked
from tests.actions.undo_fixtures import RIGHT, Work, new_work


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Work:
    return new_work(tmp_path, monkeypatch)


def _words(text: str) -> int:
    return len(text.split())


def _record(work: Work, step: object) -> Record:
    return next(record for record in work.scene.history.records if record.name.step == step)


def _refused(work: Work, *words: str) -> AgentctlError:
    """The refusal of an undo, which has changed nothing."""
    before = work.everything()
    with pytest.raises(AgentctlError) as refusal:
        work.undo(*words)
    assert work.everything() == before
    return refusal.value


# --- what an undo does ------------------------------------------------------------------------------------------------


def test_an_undo_takes_back_code_and_note_in_one_commit_that_says_why(work: Work) -> None:
    before = work.git("rev-parse", "HEAD^{tree}")
    step = work.step("add-works", {"calc.py": RIGHT, "new/deep.py": "x = 1\n"})
    commit = work.head
    undone = work.undo(str(step), because="It rounds wrongly.\n\nSee the report.")
    assert work.git("rev-parse", "HEAD^{tree}") == before
    assert work.git("rev-parse", "HEAD^").strip() == commit
    assert undone.commit == work.head
    subject = work.git("log", "-1", "--format=%s", commit).strip()
    assert work.git("log", "-1", "--format=%B") == f'Revert "{subject}"\n\nIt rounds wrongly.\n\nSee the report.\n\nThis reverts commit {commit}.\n\n'
    assert work.git("status", "--porcelain") == ""
    assert not (work.top / "new").exists()


def test_an_undo_makes_the_very_tree_that_git_revert_makes(work: Work) -> None:
    step = work.step("add-works", {"calc.py": RIGHT, "check.sh": None})
    work.commit({"other.py": "y = 2\n"}, "meanwhile")
    commit = work.git("rev-parse", "HEAD~1").strip()
    work.undo(str(step))
    ours = work.git("rev-parse", "HEAD^{tree}")
    work.git("reset", "--quiet", "--hard", "HEAD~1")
    work.git("revert", "--no-edit", commit)
    assert work.git("rev-parse", "HEAD^{tree}") == ours


def test_case_103_after_an_undo_the_item_is_open_and_the_next_session_reads_why(work: Work) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    undone = work.undo("add-works", because="Floats must not be added like that.")
    scene = work.scene
    item = scene.memory.item("add-works")
    assert item is not None
    assert scene.standing("add-works").state is State.OPEN
    assert undone.open_again == ("add-works",)
    brief = brief_for(scene, item, _words).text
    assert "Floats must not be added like that." in brief
    assert work.head[:10] in brief
    record = _record(work, step)
    assert record.undone
    assert record.undone_by is not None
    assert reason_of(record.undone_by.message) == "Floats must not be added like that."


def test_case_103_a_plain_git_revert_says_the_same_to_history(work: Work) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    work.tick()
    work.git("revert", "--no-edit", "HEAD")
    assert _record(work, step).undone
    assert work.scene.standing("add-works").state is State.OPEN


def test_an_undo_that_is_reverted_by_hand_is_no_undo_any_more(work: Work) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    work.undo(str(step))
    work.tick()
    work.git("revert", "--no-edit", "HEAD")
    assert not _record(work, step).undone
    assert work.scene.standing("add-works").state is State.DONE
    assert work.read("calc.py") == RIGHT
    assert work.undo(str(step)).commit == work.head
    assert _record(work, step).undone
    assert work.read("calc.py") != RIGHT


def test_an_item_means_its_latest_landed_step_that_stands(work: Work) -> None:
    work.step("add-works", {"calc.py": RIGHT})
    second = work.step("add-works", {"more.py": "z = 1\n"})
    assert [name.step for name in work.undo("add-works").steps] == [second]
    assert work.read("calc.py") == RIGHT
    assert [name.step for name in work.undo("add-works").steps] == [work.steps[0].step]


def test_an_item_with_an_earlier_landed_step_is_not_open_again_while_that_one_stands(work: Work) -> None:
    work.step("add-works", {"calc.py": RIGHT})
    work.step("add-works", {"more.py": "z = 1\n"})
    assert work.undo("add-works").open_again == ()


def test_a_commit_names_what_it_brought(work: Work) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    assert [name.step for name in work.undo(work.head[:9]).steps] == [step]


def test_several_steps_go_in_one_commit_whatever_their_order(work: Work) -> None:
    before = work.git("rev-parse", "HEAD^{tree}")
    first = work.step("add-works", {"calc.py": RIGHT})
    second = work.step("add-sub", {"calc.py": RIGHT + "\n\ndef sub(a, b):\n    return a - b\n"})
    count = int(work.git("rev-list", "--count", "HEAD"))
    undone = work.undo(str(first), "add-sub", because="Both were wrong.")
    assert work.git("rev-parse", "HEAD^{tree}") == before
    assert int(work.git("rev-list", "--count", "HEAD")) == count + 1
    message = work.git("log", "-1", "--format=%B")
    assert message.startswith("Revert 2 commits: add-sub, add-works\n\nBoth were wrong.\n\n")
    assert [line[-41:-1] for line in message.splitlines() if line.startswith("This reverts")] == work.git(
        "rev-list", "--max-count=2", "HEAD~1"
    ).split()
    assert [name.step for name in undone.steps] == [first, second]
    records = {record.name.step: record for record in work.scene.history.records}
    for step in (first, second):
        by = records[step].undone_by
        assert by is not None
        assert reason_of(by.message) == "Both were wrong."


def test_a_range_takes_both_ends_and_what_is_between_but_not_what_was_undone_before(work: Work) -> None:
    work.step("add-sub", {"zero.py": "0\n"})
    first = work.step("add-works", {"one.py": "1\n"})
    between = work.step("add-sub", {"two.py": "2\n"}, outcome=Outcome.FAILED)
    gone = work.step("add-sub", {"three.py": "3\n"})
    last = work.step("add-sub", {"four.py": "4\n"})
    work.step("add-works", {"five.py": "5\n"})
    work.undo(str(gone))
    undone = work.undo(f"{first}..{last}")
    assert [name.step for name in undone.steps] == [first, between, last]
    assert [record.name.step for record in undone.already] == [gone]
    assert sorted(path.name for path in work.top.glob("*.py")) == ["calc.py", "five.py", "zero.py"]


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.BLOCKED])
def test_a_failed_or_blocked_attempt_can_be_undone_by_its_step(work: Work, outcome: Outcome) -> None:
    step = work.step("add-works", {}, outcome=outcome)
    assert work.undo(str(step)).commit == work.head
    assert work.scene.standing("add-works").state is State.OPEN
    assert work.scene.standing("add-works").last is None


def test_an_item_without_a_landed_step_is_refused_with_the_attempt_that_could_be_undone(work: Work) -> None:
    step = work.step("add-works", {}, outcome=Outcome.BLOCKED)
    refusal = _refused(work, "add-works")
    assert refusal.message == "no step at add-works has landed"
    assert f"agentctl undo {step}" in refusal.hint


def test_an_item_that_the_step_had_proposed_goes_with_it_and_is_told(work: Work) -> None:
    step = work.step("add-works", {"calc.py": RIGHT, ".agent/todo/add-mul-k3f9.md": "# Add mul()\n"})
    assert work.undo(str(step)).gone == ("add-mul-k3f9",)
    assert work.scene.memory.item("add-mul-k3f9") is None


def test_a_step_that_broke_a_file_of_the_folder_can_be_undone(work: Work) -> None:
    step = work.step("add-works", {"calc.py": RIGHT, ".agent/config.yaml": "checks: [\n"})
    with pytest.raises(AgentctlError):
        _ = work.scene
    work.undo(str(step))
    assert work.scene.memory.config.checks == ("sh check.sh",)


def test_in_a_package_of_a_monorepo_the_undo_reaches_its_own_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outer = new_work(tmp_path, monkeypatch)
    package = outer.top / "apps" / "web"
    package.mkdir(parents=True)
    outer.git("mv", ".agent", "calc.py", "check.sh", "apps/web/")
    outer.git("commit", "--quiet", "-m", "move")
    inner = Work(package, monkeypatch, minutes=outer.minutes)
    step = inner.step("add-works", {"calc.py": RIGHT})
    assert inner.undo("add-works").open_again == ("add-works",)
    assert _record(inner, step).undone
    assert inner.read("calc.py") != RIGHT


# --- nothing to undo --------------------------------------------------------------------------------------------------


def test_a_step_that_is_undone_already_leaves_nothing_to_undo_and_says_who_did_it(work: Work) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    work.undo(str(step))
    before = work.everything()
    undone = work.undo("add-works")
    assert work.everything() == before
    assert undone.commit is None
    assert undone.text == f"{step} was undone already, by Test User in {work.head[:10]}\nnothing to undo"


def test_case_101_a_commit_that_changed_nothing_is_no_step_and_no_file_is_touched(work: Work) -> None:
    work.tick()
    step = "2026-11-29-125959-add-works"
    work.git("commit", "--quiet", "--allow-empty", "-m", "looked around", "-m", f"Agent-Step: {step}\nAgent-Outcome: done")
    work.write({"calc.py": "dirty\n"})
    assert "is no step" in _refused(work, step).message
    assert "brought no step" in _refused(work, "HEAD").message


# --- what it refuses, changing nothing --------------------------------------------------------------------------------


def test_case_98_unrelated_work_survives_and_work_in_its_way_is_refused(work: Work) -> None:
    work.commit({"other.py": "v1\n"}, "other")
    first = work.step("add-works", {"calc.py": RIGHT})
    second = work.step("add-sub", {"calc.py": RIGHT + "\n\ndef sub(a, b):\n    return a - b\n"})
    work.write({"other.py": "v1\r\nmy work", "scratch.txt": "new", "deep/scratch.bin": "\x00"})
    work.undo(str(second))
    assert work.read("calc.py") == RIGHT
    assert (work.top / "other.py").read_bytes() == b"v1\r\nmy work"
    assert (work.top / "scratch.txt").read_bytes() == b"new"
    assert (work.top / "deep" / "scratch.bin").read_bytes() == b"\x00"
    assert work.git("status", "--porcelain") == " M other.py\n?? deep/\n?? scratch.txt\n"
    work.write({"calc.py": RIGHT + "# mine\n"})
    refusal = _refused(work, str(first))
    assert refusal.message == "you have changes in files that the undo would touch: calc.py"
    assert work.read("calc.py").endswith("# mine\n")


def test_case_98_a_file_that_the_person_deleted_counts_as_their_work(work: Work) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    (work.top / "calc.py").unlink()
    assert "calc.py" in _refused(work, str(step)).message


def test_staged_work_is_refused(work: Work) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    work.write({"other.py": "1\n"})
    work.git("add", "other.py")
    assert _refused(work, str(step)).message == "work is staged: other.py"


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree"])
def test_work_that_git_was_told_not_to_look_at_is_refused(work: Work, bit: str) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    work.git("update-index", bit, "calc.py")
    work.write({"calc.py": "secretly mine\n"})
    assert "told not to look at calc.py" in _refused(work, str(step)).message


def test_untracked_files_in_the_way_are_refused_ignored_ones_too(work: Work) -> None:
    work.commit({"run.log.txt": "old\n", "pack/a.py": "1\n", "plain": "p\n", "up/er": "u\n"}, "more")
    step = work.step("add-works", {"run.log.txt": None, "pack/a.py": None, "plain": None, "up/er": None})
    assert not (work.top / "pack").exists()
    work.commit({".gitignore": "*.log\nrun*\n"}, "ignore")
    for path in ("run.log.txt", "pack", "plain/mine.log"):  # in its place, in a folder's place, in a folder of its name
        work.write({path: "mine"})
        assert _refused(work, str(step)).message.endswith(f"would write: {path}")
        (work.top / path).unlink()
    (work.top / "plain").rmdir()
    (work.top / "elsewhere").mkdir()
    (work.top / "up").symlink_to("elsewhere")  # a link above it would lead the file elsewhere
    assert "up" in _refused(work, str(step)).message
    (work.top / "up").unlink()
    work.undo(str(step))
    assert work.read("up/er") == "u\n"


def test_a_folder_that_became_a_file_and_back_is_no_obstacle(work: Work) -> None:
    work.commit({"pack/a.py": "1\n"}, "more")
    (work.top / "pack" / "a.py").unlink()
    (work.top / "pack").rmdir()
    work.git("rm", "--quiet", "--cached", "pack/a.py")
    work.write({"pack": "flat\n"})
    work.git("add", "pack")
    work.tick()
    work.git("commit", "--quiet", "-m", "flatten")
    step = work.step("add-works", {"calc.py": RIGHT})
    flat = work.git("rev-parse", "HEAD~1").strip()
    work.undo(str(step))
    work.tick()
    work.git("revert", "--no-edit", flat)
    assert work.read("pack/a.py") == "1\n"


def test_case_104_a_conflict_changes_nothing_and_names_files_later_steps_and_the_way_by_hand(work: Work) -> None:
    first = work.step("add-works", {"calc.py": RIGHT})
    commit = work.head
    second = work.step("add-sub", {"calc.py": "def add(a, b):\n    return int(a) + int(b)\n"})
    third = work.step("add-sub", {"other.py": "1\n"})
    work.write({"scratch.txt": "mine\r\n", "other.py": "mine too"})
    refusal = _refused(work, str(first))
    assert refusal.message == f"undoing {first} conflicts with what came later in calc.py; nothing has changed"
    assert f"agentctl undo {first} {second} --because" in refusal.hint
    assert str(third) not in refusal.hint
    assert f"git revert {commit[:10]}" in refusal.hint
    assert not list((work.top / ".git").glob("*REVERT*"))
    work.undo(str(first), str(second))
    assert work.read("calc.py").endswith("a - b\n")


def test_case_104_a_conflict_with_a_persons_commit_is_left_to_a_revert_by_hand(work: Work) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    commit = work.head
    work.commit({"calc.py": "def add(a, b):\n    return sum((a, b))\n"}, "mine")
    assert _refused(work, str(step)).hint.startswith(f"by hand: git revert {commit[:10]}")


def test_a_squash_goes_whole_or_not_at_all(work: Work) -> None:
    base = work.head
    first = work.step("add-works", {"calc.py": RIGHT})
    second = work.step("add-sub", {"sub.py": "1\n"})
    messages = work.git("log", "--format=%B", f"{base}..HEAD")
    work.git("reset", "--quiet", "--soft", base)
    work.tick()
    work.git("commit", "--quiet", "-m", "Squashed", "-m", messages)
    refusal = _refused(work, str(first))
    assert f"{first} came in one commit ({work.head[:10]}) with {second}" in refusal.message
    assert refusal.hint.endswith(f"agentctl undo {work.head[:10]}")
    assert [name.step for name in work.undo(work.head[:10]).steps] == [first, second]
    assert work.git("rev-parse", "HEAD^{tree}") == work.git("rev-parse", f"{base}^{{tree}}")


def test_a_squash_of_which_one_step_is_undone_already_can_lose_the_other(work: Work) -> None:
    base = work.head
    first = work.step("add-works", {"calc.py": RIGHT})
    second = work.step("add-sub", {"sub.py": "1\n"})
    work.git("reset", "--quiet", "--soft", base)
    work.tick()
    work.git("commit", "--quiet", "-m", "Squashed")
    work.tick()
    work.git("rm", "--quiet", f".agent/{work.steps[0].path}")
    work.git("commit", "--quiet", "-m", "I take that note away")
    assert [name.step for name in work.undo(str(second)).steps] == [second]
    assert _record(work, first).undone


def test_case_100_a_step_in_the_first_commit_is_refused_in_one_sentence(work: Work) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    work.write({"user.txt": "mine"})
    work.git("update-ref", "-d", "HEAD")
    work.tick()
    work.git("commit", "--quiet", "-m", "everything")
    refusal = _refused(work, str(step))
    assert "first commit" in refusal.message
    assert "agentctl todo reopen add-works" in refusal.hint
    assert work.read("user.txt") == "mine"


def test_case_109_what_a_rebase_took_away_is_said_without_git_s_own_words(work: Work) -> None:
    work.step("add-works", {"calc.py": RIGHT})
    for word in ("0123456789abcdef0123456789abcdef01234567", "deadbeef", "2026-01-01-000000-add-works", "--help", "", "a\0b", "no such thing"):
        message = _refused(work, word).message
        assert "fatal" not in message
        assert "bad object" not in message


def test_case_109_after_a_rebase_the_step_is_undone_where_it_is_now(work: Work) -> None:
    base = work.head
    step = work.step("add-works", {"calc.py": RIGHT})
    work.git("switch", "--quiet", "-c", "other", base)
    work.commit({"other.py": "1\n"}, "other")
    work.git("switch", "--quiet", "main")
    work.git("rebase", "--quiet", "other")
    assert work.undo("add-works").commit == work.head
    assert f"This reverts commit {work.git('rev-parse', 'HEAD~1').strip()}." in work.git("log", "-1", "--format=%B")
    assert _record(work, step).undone


def test_a_commit_that_is_no_step_is_left_to_git_revert(work: Work) -> None:
    work.step("add-works", {"calc.py": RIGHT})
    work.commit({"other.py": "1\n"}, "mine")
    refusal = _refused(work, "HEAD")
    assert refusal.hint == "git revert HEAD takes back any commit"


def test_a_step_below_where_a_shallow_clone_is_cut_off_is_refused(work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = work.step("add-works", {"calc.py": RIGHT})
    undone = work.step("add-sub", {"sub.py": "1\n"})
    work.undo(str(undone))
    work.commit({"other.py": "1\n"}, "mine")
    new = work.step("add-sub", {"sub.py": "2\n"})
    subprocess.run(["git", "clone", "--quiet", "--depth=2", f"file://{work.top}", str(tmp_path / "clone")], check=True)
    clone = Work(tmp_path / "clone", monkeypatch, minutes=work.minutes)
    refusal = _refused(clone, str(old))
    assert "shallow" in refusal.message
    assert refusal.hint == "git fetch --unshallow"
    assert "shallow" in _refused(clone, str(undone)).message
    assert clone.undo(str(new)).commit == clone.head
    assert (clone.top / "calc.py").read_text("utf-8") == RIGHT


def test_case_2_a_detached_head_is_refused(work: Work) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    work.git("switch", "--quiet", "--detach")
    assert _refused(work, str(step)).hint == "git switch -c NAME"


def test_case_10_without_an_identity_it_is_refused(work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    work.git("config", "user.useConfigOnly", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "git config user.name" in _refused(work, str(step)).hint


def test_a_merge_under_way_is_refused(work: Work) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    work.git("switch", "--quiet", "-c", "other", "HEAD~1")
    work.commit({"other.py": "1\n"}, "other")
    work.git("switch", "--quiet", "main")
    work.git("merge", "--quiet", "--no-commit", "--no-ff", "other")
    assert _refused(work, str(step)).message == "a merge is under way"


def test_case_14_it_works_in_a_work_tree_of_a_bare_repository(work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    subprocess.run(["git", "clone", "--quiet", "--bare", str(work.top), str(tmp_path / "p.git")], check=True)
    subprocess.run(["git", "worktree", "add", "--quiet", str(tmp_path / "tree"), "main"], check=True, cwd=tmp_path / "p.git", capture_output=True)
    tree = Work(tmp_path / "tree", monkeypatch, minutes=work.minutes)
    assert tree.undo(str(step)).commit == tree.head


def test_a_hook_that_refuses_leaves_everything_as_it_was(work: Work) -> None:
    work.commit({"gone/soon.py": "1\n"}, "more")
    step = work.step("add-works", {"calc.py": RIGHT, "made/by.py": "1\n", "gone/soon.py": None})
    work.write({"scratch.txt": "mine\r\n"})
    hook = work.top / ".git" / "hooks" / "commit-msg"
    hook.write_text("#!/bin/sh\necho 'no ticket in the message' >&2\nexit 1\n", "utf-8")
    hook.chmod(0o755)
    refusal = _refused(work, str(step))
    assert "no ticket in the message" in refusal.message
    assert not (work.top / "gone").exists()
    hook.write_text('#!/bin/sh\ngrep -q "TICKET-1" "$1"\n', "utf-8")
    work.undo(str(step), because="TICKET-1 says so")
    assert work.read("gone/soon.py") == "1\n"


def test_nothing_is_half_done_while_another_agentctl_is_at_work(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    monkeypatch.setattr("agent.lock._PATIENCE", 0.0)
    with locked(work.repo.private):
        assert "another agentctl" in _refused(work, str(step)).message


def test_what_a_crash_left_is_picked_up_first(work: Work) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    Journal(work.repo.private).write(Entry("2026-11-29-150000-add-sub", "add-sub", work.head, branch="main", doing="a tool"))
    work.write({"calc.py": "half\n"})
    undone = work.undo(str(step))
    assert "died during 2026-11-29-150000-add-sub" in undone.recovered
    assert work.read("calc.py").endswith("a - b\n")


def test_what_was_picked_up_is_told_even_when_the_undo_fails(work: Work) -> None:
    Journal(work.repo.private).write(Entry("2026-11-29-150000-add-sub", "add-sub", work.head, branch="main", doing="a tool"))
    work.write({"calc.py": "half\n"})
    with pytest.raises(AgentctlError, match="died during 2026-11-29-150000-add-sub"):
        work.undo("no-such-item")


def test_line_ends_and_modes_come_back_as_they_were(work: Work) -> None:
    work.commit({"dos.txt": "one\r\ntwo\r\n", "run.sh": "echo\n"}, "more")
    (work.top / "run.sh").chmod(0o755)
    work.git("commit", "--quiet", "-am", "executable")
    before = work.git("rev-parse", "HEAD^{tree}")
    (work.top / "run.sh").chmod(0o644)
    step = work.step("add-works", {"dos.txt": "one\ntwo\n", "run.sh": "echo 2\n"})
    work.git("config", "core.autocrlf", "input")
    work.undo(str(step))
    assert work.git("rev-parse", "HEAD^{tree}") == before
    assert (work.top / "dos.txt").read_bytes() == b"one\r\ntwo\r\n"
    assert (work.top / "run.sh").stat().st_mode & 0o111


@pytest.mark.parametrize("path", [":(top)calc.py", "*", "a b\nc", "ünïcode", "-rf"])
def test_a_name_is_only_a_name(work: Work, path: str) -> None:
    step = work.step("add-works", {"ok.py": "1\n"})
    work.write({path: "1\n"})
    work.tick()
    work.git("--literal-pathspecs", "add", "--", path)
    work.git("commit", "--quiet", "--amend", "--no-edit")
    work.undo(str(step))
    assert sorted(file.name for file in work.top.iterdir()) == [".agent", ".git", "calc.py", "check.sh"]


# --- the reason -------------------------------------------------------------------------------------------------------

_OURS = (
    "This reverts commit 0123abc.",
    "Agent-Step: 2026-01-01-000000-x",
    "> Agent-Outcome: done",
    "Signed-off-by: me",
    'Revert "x"',
    "reversing",
    "changes made to x.",
    "",
)
_LINES = st.lists(st.sampled_from(_OURS) | st.text(max_size=30), max_size=6).map("\n".join)


@given(because=_LINES, subjects=st.lists(st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=80), min_size=1, max_size=3))
def test_any_reason_is_read_back_from_the_message_as_it_was_written(because: str, subjects: list[str]) -> None:
    message = undo_message([("0123456789" * 4, subject) for subject in subjects], because)
    written = written_reason(because)
    if written:
        assert reason_of(message) == written
    assert told_in(message) == ()
    unmarked = "\n".join(line.removeprefix("|").removeprefix(" ") for line in written.split("\n"))
    assert tidy_text(because).strip() in (written, unmarked)


@given(
    st.text(st.characters(codec="utf-8"), max_size=200).filter(
        lambda text: not any(word in text for word in ("Agent-", "Sign", "Revert", "revers", "reverts"))
    )
)
def test_a_reason_without_git_s_own_words_is_written_as_it_was_typed(because: str) -> None:
    assert written_reason(because) == tidy_text(because).strip()


@pytest.mark.parametrize(
    "because",
    [
        "One line.",
        "Two\nlines.",
        "# not a comment\n\n\n\nafter three blank lines",
        "- a\n  - indented\n\ttab",
        "This reverts commit abc1234.\nAgent-Step: x",
        "日本語 ✓",
    ],
)
def test_a_reason_comes_back_through_git_itself(work: Work, because: str) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    work.undo(str(step), because=because)
    record = _record(work, step)
    assert record.undone_by is not None
    assert reason_of(record.undone_by.message) == written_reason(because)


def test_without_a_reason_the_undo_is_git_s_own_revert(work: Work) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    ours = (work.undo(str(step), because=" \n"), work.git("log", "-1", "--format=%B"))[1]
    work.git("reset", "--quiet", "--hard", "HEAD~1")
    work.git("revert", "--no-edit", "HEAD")
    assert work.git("log", "-1", "--format=%B") == ours
