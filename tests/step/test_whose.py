"""Whose a change is: what isn't the step's is neither committed nor put back, and nothing lands that wasn't checked."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from agent.actions.preflight import recover
from agent.actions.workbench import Workbench
from agent.domain.progress import UNBEGUN
from agent.errors import AgentctlError
from agent.journal import Entry, Journal
from agent.lock import Predecessor
from agent.repository import snapshot
from agent.repository.repo import Repo, discover
from tests.project import ADDS, Project, call, edit, finish, reply

ITEM = "make-add-add"
WRONG = edit("calc.py", "a - b", "a * b")
STEP = f"2026-11-29-130355-{ITEM}"


@pytest.fixture
def listed(project: Project) -> Project:
    project.write("doc.md", "doc\n")
    project.commit("doc")
    project.items("Make add() add")
    return project


def bench_in(project: Project) -> Workbench:
    repo: Repo = discover(project.root)
    now = repo.survey()
    return Workbench(repo, Journal(repo.private), Entry(STEP, ITEM, project.head(), (*now.untracked, *now.ignored), branch="main"))


def attempts(project: Project) -> list[str]:
    return project.git("for-each-ref", "--format=%(refname)", "refs/agentctl/attempts").split()


def test_a_file_that_appears_between_two_tool_calls_is_a_persons(listed: Project) -> None:
    bench = bench_in(listed)
    bench.before_tool("a tool")
    listed.write("made.txt", "by a command\n")
    bench.after_tool(UNBEGUN)
    listed.write("idea.md", "mine\n")
    listed.write("doc.md", "my edit\n")
    bench.before_tool("a tool")
    listed.write("calc.py", "by a command\n")
    bench.after_tool(UNBEGUN)
    assert bench.unclaimed("") == ["made.txt"]
    tree = bench.result("made.txt")
    assert listed.git("diff", "--name-only", "HEAD", tree).split() == ["calc.py", "made.txt"]
    bench.put_back()
    assert listed.status() == " M doc.md\n?? idea.md\n"
    assert listed.read("doc.md") == "my edit\n"


def test_an_edit_made_while_checks_run_stays_and_does_not_land(listed: Project) -> None:
    listed.write("check.sh", 'grep -q "a + b" calc.py && echo "my edit" > doc.md\n')
    listed.commit("a check that an editor saves in")
    listed.record({ITEM: [[reply(ADDS, finish())]]})
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert listed.read("doc.md") == "my edit\n"
    assert listed.status() == " M doc.md\n"
    assert "doc.md" not in listed.git("show", "--name-only", "--format=", "HEAD")


def test_checks_that_change_tracked_files_are_told_before_a_model_is_called(listed: Project) -> None:
    listed.write("check.sh", "echo x >> doc.md\n")
    listed.commit("a check that writes")
    listed.record({ITEM: [[reply(ADDS, finish())]]})
    ran = listed.agentctl("step")
    assert (ran.code, "while the checks ran, tracked files changed: doc.md" in ran.err) == (1, True)
    assert not (listed.root / ".git/agentctl/ledger.jsonl").exists()


def test_files_that_a_step_takes_out_of_the_ignore_list_stay_the_persons(listed: Project) -> None:
    listed.write(".gitignore", "*.env\ndata/\n")
    listed.commit("ignore")
    listed.write("secret.env", "mine\n")
    listed.write("data/x", "mine\n")
    listed.record(
        {ITEM: [[reply(edit(".gitignore", "*.env\ndata/\n", "none\n"), call("run", command="true"), WRONG, finish("sample.secret.env data/"))]]}
    )
    assert listed.agentctl("step").code == 4
    assert (listed.read("secret.env"), listed.read("data/x")) == ("mine\n", "mine\n")
    listed.record({"*": [[reply(edit(".gitignore", "*.env\ndata/\n", "none\n"), call("run", command="true"), ADDS, finish("secret.env"))]]})
    assert listed.agentctl("step").code == 0
    assert "secret.env" not in listed.git("show", "--name-only", "--format=", "HEAD")


def test_what_a_tool_wrote_over_is_kept_under_a_ref_when_the_step_lands(listed: Project) -> None:
    listed.write("mine.txt", "only copy\n")
    listed.record({ITEM: [[reply(ADDS, call("write", path="mine.txt", content="theirs\n"), finish())]]})
    ran = listed.process("step", "--json")
    assert ran.code == 0, ran.err
    assert listed.git("show", f"refs/agentctl/kept/{ran.json['step']}:mine.txt") == "only copy\n"


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_that_is_hidden_from_git_is_not_written(listed: Project, flag: str) -> None:
    listed.git("update-index", flag, "doc.md")
    listed.write("doc.md", "local\n")
    listed.record({ITEM: [[reply(edit("doc.md", "local", "changed"), ADDS, finish())]]})
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert "is hidden from git" in ran.err
    assert listed.read("doc.md") == "local\n"


def test_a_hook_that_puts_in_what_was_not_checked_is_refused_and_sweeps_nothing_in(listed: Project) -> None:
    listed.write("mine.txt", "mine\n")
    hook = listed.write(".git/hooks/pre-commit", "#!/bin/sh\necho 'def add(a, b): return 0' > calc.py\ngit add -A\n")
    hook.chmod(0o755)
    listed.record({ITEM: [[reply(ADDS, finish())]]})
    before = listed.head()
    ran = listed.agentctl("step")
    assert ran.code != 0
    assert listed.head() == before
    assert listed.read("mine.txt") == "mine\n"
    assert listed.status() == "?? mine.txt\n"


def test_a_hook_that_formats_the_steps_own_file_lands_what_it_made_when_that_passes(listed: Project) -> None:
    hook = listed.write(".git/hooks/pre-commit", "#!/bin/sh\ngrep -q '# fmt' calc.py || { echo '# fmt' >> calc.py; git add calc.py; }\n")
    hook.chmod(0o755)
    listed.record({ITEM: [[reply(ADDS, finish())]]})
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert listed.git("show", "HEAD:calc.py").endswith("a + b\n# fmt\n")
    assert listed.status() == ""


def test_a_commit_by_the_worker_is_taken_back_and_its_changes_are_judged(listed: Project) -> None:
    cheat = "sed -i 's/a - b/a * b/' calc.py; echo 'checks: []' > .agent/config.yaml; git commit -qam 'all done'"
    listed.record({ITEM: [[reply(call("run", command=cheat), finish())]]})
    before = listed.head()
    ran = listed.agentctl("step")
    assert ran.code == 4
    assert listed.git("log", "--format=%H %s", "-2").split("\n")[1].startswith(before)
    assert listed.read(".agent/config.yaml") == "checks:\n  - sh check.sh\n"
    assert listed.status() == ""


@pytest.mark.usefixtures("unconfined")
def test_a_step_on_another_branch_than_it_began_on_does_not_land(listed: Project) -> None:
    listed.record({ITEM: [[reply(call("run", command="git checkout -q --detach"), ADDS, finish())]]})
    ran = listed.agentctl("step")
    assert (ran.code, "another branch was checked out" in ran.err) == (1, True)
    assert listed.git("rev-parse", "main").strip() == listed.head()


@pytest.mark.usefixtures("unconfined")
def test_an_item_that_is_dropped_while_the_step_works_stays_dropped(listed: Project) -> None:
    drop = "env -u GIT_COMMITTER_NAME -u GIT_COMMITTER_EMAIL git commit -qm dropped"
    path = f".agent/notes/2030-01-01/120000-{ITEM}.dropped.md"
    command = f"mkdir -p .agent/notes/2030-01-01 && printf '# Dropped\\n' > {path} && git add .agent && {drop}"
    listed.record({ITEM: [[reply(call("run", command=command), ADDS, finish())]]})
    ran = listed.agentctl("step")
    assert (ran.code, "somebody has said" in ran.err) == (1, True)
    assert listed.agentctl("todo", "--json").json[0]["state"] == "dropped"
    assert listed.read("calc.py").endswith("a - b\n")


def test_a_note_names_a_file_only_as_a_word_of_its_own(listed: Project) -> None:
    listed.write("src/a.py", "a = 1\n")
    listed.commit("src")
    made = call("run", command="echo x > t; echo x > src/debug.log")
    listed.record({ITEM: [[reply(ADDS, made, finish("Fixed it: tests under src/ stay."))]]})
    ran = listed.agentctl("step")
    assert ran.code == 4
    assert "commands made new files: src/debug.log, t" in listed.git("log", "-1", "--format=%B") + listed.agentctl("note").out


def test_a_file_that_git_ignores_by_now_is_told_and_not_dropped(listed: Project) -> None:
    ignore = call("write", path=".gitignore", content="*.txt\n")
    listed.record({ITEM: [[reply(call("write", path="gen.txt", content="x\n"), ignore, ADDS, finish())]]})
    assert listed.agentctl("step").code == 4
    assert "gen.txt is to land but git ignores it by now" in listed.agentctl("note").out


def test_a_folder_that_became_a_link_does_not_keep_the_tree_from_being_put_back(listed: Project) -> None:
    swap = call("run", command="mkdir o; echo x > o/log.txt")
    listed.record({ITEM: [[reply(swap, WRONG, call("run", command="mv o p; ln -s p o"), finish())]]})
    assert listed.agentctl("step").code == 4
    assert listed.read("calc.py").endswith("a - b\n")
    assert listed.agentctl("status").code == 0


def test_an_index_that_is_locked_after_the_commit_does_not_unsay_that_the_step_landed(listed: Project) -> None:
    hook = listed.write(".git/hooks/post-commit", "#!/bin/sh\ntouch .git/index.lock\n")
    hook.chmod(0o755)
    listed.record({ITEM: [[reply(ADDS, finish())]]})
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert listed.read("calc.py").endswith("a + b\n")


def test_what_a_person_changed_after_a_crash_stays(listed: Project) -> None:
    bench = bench_in(listed)
    bench.before_tool("a tool")
    listed.write("calc.py", "half done\n")
    bench.after_tool(UNBEGUN)
    listed.write("doc.md", "my edit after the crash\n")
    told = recover(discover(listed.root), Predecessor())
    assert "the tree is put back" in told
    assert listed.read("doc.md") == "my edit after the crash\n"
    assert listed.read("calc.py").endswith("a - b\n")
    assert "half done" in listed.git("show", f"{snapshot.PAUSED}{STEP}:calc.py")


def test_a_crash_after_landing_is_told_even_when_people_went_on(listed: Project) -> None:
    listed.record({ITEM: [[reply(ADDS, finish())]]})
    base = listed.head()
    step = listed.process("step", "--json").json["step"]
    listed.write("doc.md", "more\n")
    listed.commit("a person goes on")
    repo = discover(listed.root)
    Journal(repo.private).write(Entry(step, ITEM, base, branch="main"))
    assert "had landed; that step stands" in recover(repo, Predecessor())
    assert listed.status() == ""


def test_a_list_that_was_extended_after_a_crash_does_not_keep_it_from_being_picked_up(listed: Project) -> None:
    listed.write("mine.sh", "mine\n")
    bench = bench_in(listed)
    bench.before_tool("a tool")
    bench.keep("mine.sh")
    listed.write("mine.sh", "theirs\n")
    listed.write("calc.py", "half done\n")
    bench.after_tool(UNBEGUN)
    assert listed.agentctl("todo", "add", "Another").code == 0
    assert "the tree is put back" in recover(discover(listed.root), Predecessor())
    assert (listed.read("mine.sh"), listed.read("calc.py")) == ("mine\n", "def add(a, b):\n    return a - b\n")


def test_mode_and_line_ends_of_a_persons_copy_come_back_as_they_were(listed: Project) -> None:
    listed.git("config", "core.autocrlf", "true")
    listed.write("doc.md", b"doc\r\n").chmod(0o600)
    listed.git("add", "doc.md")
    listed.record({ITEM: [[reply(edit("doc.md", "doc", "changed"), finish())]]})
    assert listed.agentctl("step").code == 4
    assert (listed.root / "doc.md").read_bytes() == b"doc\r\n"
    assert (listed.root / "doc.md").stat().st_mode & 0o777 == 0o600


def test_a_person_who_commits_while_our_hook_runs_keeps_that_commit(listed: Project) -> None:
    person = "env -u GIT_INDEX_FILE git commit --quiet --no-verify --allow-empty -m 'a person was quicker'"
    hook = listed.write(".git/hooks/pre-commit", f"#!/bin/sh\n[ -e .git/once ] && exit 0\ntouch .git/once\n{person}\n")
    hook.chmod(0o755)
    listed.record({ITEM: [[reply(ADDS, finish())]]})
    listed.agentctl("step")
    assert "a person was quicker" in listed.git("log", "--format=%s")
    assert listed.status() == ""


def test_an_item_that_is_added_while_a_person_commits_is_not_taken_for_theirs(listed: Project) -> None:
    person = "env -u GIT_INDEX_FILE git commit --quiet --no-verify --allow-empty -m 'a person was quicker'"
    hook = listed.write(".git/hooks/pre-commit", f"#!/bin/sh\n{person}\n")
    hook.chmod(0o755)
    ran = listed.agentctl("todo", "add", "Precious")
    assert (ran.code, "added" in ran.out) == (1, False)
    assert listed.status() == ""


@pytest.mark.usefixtures("unconfined")
@pytest.mark.parametrize("command", ["git commit -q --amend -m mine", "git reset -q --hard HEAD~1"])
def test_a_worker_that_rewrites_history_does_not_lose_a_commit(listed: Project, command: str) -> None:
    listed.record({ITEM: [[reply(call("run", command=command), finish())]]})
    before = listed.head()
    assert listed.agentctl("step").code != 0
    assert before in listed.git("log", "--format=%H").split()
    assert listed.status() == ""


def test_a_signal_after_the_commit_does_not_take_the_step_back(listed: Project) -> None:
    hook = listed.write(".git/hooks/post-commit", "#!/bin/sh\nkill -TERM $(cat .git/agentctl/lock)\nsleep 0.3\n")
    hook.chmod(0o755)
    listed.record({ITEM: [[reply(ADDS, finish())]]})
    ran = listed.process("step")
    assert ran.code in (0, 143), ran.err
    assert listed.agentctl("todo", "--json").json[0]["state"] == "done"
    assert listed.status() == ""
    assert listed.read("calc.py").endswith("a + b\n")


def test_an_edit_that_a_person_stages_meanwhile_is_theirs(listed: Project) -> None:
    bench = bench_in(listed)
    listed.write("doc.md", "my edit\n")
    listed.git("add", "doc.md")
    bench.before_tool("a tool")
    listed.write("calc.py", "by a command\n")
    bench.after_tool(UNBEGUN)
    assert listed.git("diff", "--name-only", "HEAD", bench.result("")).split() == ["calc.py"]
    bench.put_back()
    assert listed.status() == "M  doc.md\n"


def test_a_tool_does_not_write_what_somebody_else_is_changing(listed: Project) -> None:
    bench = bench_in(listed)
    listed.write("doc.md", "my edit\n")
    bench.before_tool("a tool")
    with pytest.raises(AgentctlError, match=r"somebody else is changing doc\.md"):
        bench.keep("doc.md")


@pytest.mark.parametrize("staged", [False, True])
def test_a_tool_that_writes_one_file_sees_what_somebody_else_made_of_it_just_now(listed: Project, *, staged: bool) -> None:
    bench = bench_in(listed)
    listed.write("doc.md", "my edit\n")
    if staged:
        listed.git("add", "doc.md")
    with pytest.raises(AgentctlError, match=r"somebody else is changing doc\.md"):
        bench.keep("doc.md")
    bench.keep("calc.py")
    listed.write("calc.py", "by a tool\n")
    bench.after_tool(UNBEGUN)
    assert listed.git("diff", "--name-only", "HEAD", bench.result("")).split() == ["calc.py"]
    bench.put_back()
    assert listed.status() == ("M  doc.md\n" if staged else " M doc.md\n")


def test_what_a_person_changes_after_the_last_tool_is_theirs(listed: Project) -> None:
    bench = bench_in(listed)
    bench.keep("calc.py")
    listed.write("calc.py", "by a tool\n")
    bench.after_tool(UNBEGUN)
    listed.write("doc.md", "my edit\n")
    assert listed.git("diff", "--name-only", "HEAD", bench.result("")).split() == ["calc.py"]
    assert bench.after_checks() == ["doc.md"]
    assert (listed.git("diff", "--name-only", "HEAD", bench.result("")).split(), bench.beside()) == (["calc.py"], ["doc.md"])
    bench.put_back()
    assert listed.status() == " M doc.md\n"


def test_a_file_that_comes_back_after_it_was_deleted_is_in_the_tree_again(listed: Project) -> None:
    bench = bench_in(listed)
    bench.keep("doc.md")
    (listed.root / "doc.md").unlink()
    bench.after_tool(UNBEGUN)
    assert listed.git("diff", "--name-status", "HEAD", bench.result("")) == "D\tdoc.md\n"
    listed.write("doc.md", "again\n")
    bench.after_tool(UNBEGUN)
    assert listed.git("show", f"{bench.result('')}:doc.md") == "again\n"


def test_what_a_killed_tool_had_staged_is_unstaged_when_it_is_picked_up(listed: Project) -> None:
    bench = bench_in(listed)
    bench.before_tool("a tool")
    listed.write("new.txt", "new\n")
    listed.git("add", "new.txt")
    assert "the tree is put back" in recover(discover(listed.root), Predecessor())
    assert listed.status() == ""


def test_a_file_that_becomes_a_folder_lands_as_one(listed: Project) -> None:
    command = "rm doc.md && mkdir doc.md && echo part > doc.md/one.md"
    listed.record({ITEM: [[reply(ADDS, call("run", command=command), finish("doc.md/one.md is the doc now."))]]})
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert listed.git("show", "HEAD:doc.md/one.md") == "part\n"
    assert listed.status() == ""


@pytest.mark.usefixtures("unconfined")
def test_a_branch_that_was_switched_while_checks_ran_gets_no_step(listed: Project, tmp_path: Path) -> None:
    again = tmp_path / "again"
    listed.write("check.sh", f'[ -e {again} ] && git switch -q -c other; touch {again}; grep -q "a + b" calc.py\n')
    listed.commit("a check that switches")
    listed.record({ITEM: [[reply(ADDS, finish())]]})
    before = listed.head()
    ran = listed.agentctl("step")
    assert ran.code == 1
    assert listed.git("rev-parse", "other").strip() == before


def test_twenty_thousand_untracked_files_cost_no_more_than_reading_their_names(listed: Project) -> None:
    for number in range(200):
        listed.write(f"src/d{number}/tracked.py", "x\n")
    listed.commit("folders")
    for number in range(20_000):
        (listed.root / f"src/d{number % 200}/u{number}").touch()
    bench = bench_in(listed)
    began = time.process_time()
    bench.before_tool("a tool")
    bench.after_tool(UNBEGUN)
    assert time.process_time() - began < 5
    assert bench.unclaimed("") == []


def test_what_green_checks_left_is_nobodys_work_when_the_worker_goes_on(listed: Project) -> None:
    bench = bench_in(listed)
    bench.keep("calc.py")
    listed.write("calc.py", "by a tool\n")
    bench.after_tool(UNBEGUN)
    listed.write("left.txt", "by a check\n")
    listed.write("doc.md", "by a check\n")
    bench.after_green_checks("calc.py is mended.")
    assert listed.git("diff", "--name-only", "HEAD", bench.result("left.txt")).split() == ["calc.py"]
    bench.goes_on()
    bench.before_tool("a tool")
    listed.write("made.txt", "by a command\n")
    bench.after_tool(UNBEGUN)
    assert bench.unclaimed("") == ["made.txt"]
    assert listed.git("diff", "--name-only", "HEAD", bench.result("left.txt, made.txt")).split() == ["calc.py", "left.txt", "made.txt"]
    assert bench.beside() == ["doc.md"]
    bench.put_back()
    assert listed.status() == " M doc.md\n?? left.txt\n"


def test_a_file_that_a_check_makes_lands_where_the_note_names_it_and_after_it_was_checked(listed: Project) -> None:
    listed.write("check.sh", 'grep -q "a + b" calc.py && echo out > snap.txt && echo out > other.txt\n')
    listed.commit("a check that keeps what it saw")
    listed.record({ITEM: [[reply(ADDS, finish("See snap.txt.")), reply(finish("See snap.txt."))]]})
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert ran.err.count("gate: changed files: ") == 2
    assert listed.git("show", "--name-only", "--format=", "HEAD", "--", ":!.agent").split() == ["calc.py", "snap.txt"]
    assert listed.status() == "?? other.txt\n"
