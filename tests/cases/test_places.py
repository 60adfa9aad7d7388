"""Cases of kind a: where a step begins, and what state the repository is in there."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cases.adapter import answers, called, changed, good, lands, only_a_note, refused
from tests.cases.conftest import Case
from tests.project import SOURCE, call, edit


def test_case_1_without_a_first_commit_it_says_so(case: Case) -> None:
    project = case("git init -q repo; cd repo; seed; not git rev-parse -q --verify HEAD")
    for command in ("step", "status", "log", "todo"):
        refused(project, project.agentctl(command), "there is no commit here yet", "git commit")
    assert project.git("rev-parse", "-q", "--verify", "HEAD", check=False) == ""


def test_case_1_init_may_make_the_first_commit(case: Case) -> None:
    project = case("git init -q repo; cd repo; echo mine > mine.txt")
    assert project.agentctl("init", "--check", "true").code == 0
    assert project.git("rev-list", "--count", "HEAD") == "1\n"
    assert project.status() == "?? mine.txt\n"
    assert project.agentctl("log").code == 0


def test_case_2_on_a_detached_head_nothing_is_committed(case: Case) -> None:
    project = case("mkrepo; git checkout -q --detach; not git symbolic-ref -q HEAD")
    answers(project, good())
    before = project.head()
    refused(project, project.agentctl("step"), "HEAD is detached", "git switch -c")
    assert (project.head(), project.status()) == (before, "")


def test_case_10_without_an_identity_no_model_is_called(case: Case) -> None:
    project = case("""
        mkrepo; git config --global --unset user.name; git config --global --unset user.email
        git config --global user.useConfigOnly true
        not git var GIT_AUTHOR_IDENT 2>/dev/null""")
    answers(project, good())
    refused(project, project.agentctl("step"), "git doesn't know who you are", "git config user.email")


def test_case_11_a_repository_of_another_user_is_told_with_gits_own_advice(case: Case) -> None:
    project = case("""
        mkrepo; export GIT_TEST_ASSUME_DIFFERENT_OWNER=1
        git status 2>&1 | grep -q 'dubious ownership'""")
    for command in ("step", "status", "init"):
        refused(project, project.agentctl(command), "another user", "git config --global --add safe.directory")
    assert "safe" not in (project.root.parent.parent / "home/.gitconfig").read_text()


def test_case_13_a_location_inherited_from_a_hook_is_not_followed(case: Case) -> None:
    project = case("""
        mkrepo; git init -q ../decoy; git -C ../decoy commit -q --allow-empty -m decoy
        cat > check.sh <<'S'
d=$(mktemp -d); cd "$d"; git init -q .; git commit -q --allow-empty -m inner; cd - >/dev/null; rm -rf "$d"
grep -q "a + b" calc.py
S
        git commit -qam 'the check makes a scratch repository'
        git -C ../decoy rev-parse HEAD > ../decoy.head
        export GIT_DIR="$(cd ../decoy && pwd)/.git" """)
    answers(project, good())
    ran = project.agentctl("step")
    assert ran.code == 0, ran.err
    decoy = project.root.parent / "decoy"
    seen = {name: subprocess.run(["git", "--git-dir", str(folder / ".git"), "log", "--format=%s"], check=True, capture_output=True, text=True).stdout
            for name, folder in (("decoy", decoy), ("repo", project.root))}  # fmt: skip
    assert seen["decoy"] == "decoy\n"
    assert seen["repo"].split("\n")[0] == "t1: Make add() add"


def test_case_14_a_work_tree_of_a_bare_repository_is_a_normal_place_the_bare_one_is_not(case: Case) -> None:
    project = case("""
        mkrepo seedrepo; cd ..; git clone -q --bare seedrepo p.git
        git -C p.git worktree add -q ../main main; git -C p.git worktree add -q ../feat -b feat
        [ "$(git -C p.git rev-parse --is-bare-repository)" = true ]; test -f main/.git; cd feat""")
    main = project.git("rev-parse", "main")
    lands(project)
    assert project.git("rev-parse", "main") == main
    assert project.git("log", "-1", "--format=%s", "feat") == "t1: Make add() add\n"
    ran = project.agentctl("step", cwd="../p.git")
    assert (ran.code, "this repository is bare" in ran.err, "git worktree add" in ran.err) == (1, True, True), ran.err


def test_case_19_an_ignored_memory_is_refused_with_the_rule(case: Case) -> None:
    project = case("""
        git init -q repo; cd repo; seed; echo '.agent/' > .gitignore; git add -A; git commit -qm seed
        git check-ignore -q .agent/todo/t1.md; not git ls-files --error-unmatch .agent/todo/t1.md 2>/dev/null""")
    answers(project, good())
    for command in (("step",), ("status",), ("init",), ("todo", "add", "Another")):
        refused(project, project.agentctl(*command), "git ignores .agent/", ".gitignore:1")
    assert project.git("ls-files", ".agent") == ""


def test_a_memory_that_was_never_committed_is_told_from_none(case: Case) -> None:
    project = case("mkrepo; git rm -rq --cached .agent; git commit -qm without")
    refused(project, project.agentctl("status"), ".agent/ is not in the last commit", "git add .agent && git commit")


def test_case_28_a_folder_of_a_monorepo_is_a_project_of_its_own(case: Case) -> None:
    project = case("""
        git init -q repo; cd repo; mkdir -p apps/web; echo root > calc.py
        (cd apps/web && seed); git add -A; git commit -qm seed; cd apps/web; mkdir deep""")
    answers(project, good())
    ran = project.agentctl("step", cwd="deep")
    assert ran.code == 0, ran.err
    assert changed(project) == ["apps/web/calc.py"]
    assert "apps/web/.agent/notes/" in project.git("show", "--name-only", "--format=", "HEAD")
    assert (project.root / "../../calc.py").read_text() == "root\n"


def test_case_28_what_lies_outside_that_folder_is_out_of_reach(case: Case) -> None:
    project = case("""
        git init -q repo; cd repo; mkdir -p apps/web; echo root > calc.py
        (cd apps/web && seed); git add -A; git commit -qm seed; cd apps/web""")
    before = project.head()
    answers(project, good(edit("../../calc.py", "root", "wrong"), call("run", command="echo wrong > ../../calc.py")))
    assert project.agentctl("step").code == 4
    assert (project.root / "../../calc.py").read_text() == "root\n"
    only_a_note(project, before)


def test_case_31_thousands_of_untracked_files_cost_no_time(case: Case) -> None:
    project = case("""
        mkrepo; mkdir store
        (cd store; i=0; while [ $i -lt 6 ]; do mkdir d$i; (cd d$i; seq 1 500 | xargs touch); i=$((i+1)); done)
        [ "$(git status --porcelain | wc -l)" = 1 ]""")
    began = time.monotonic()
    lands(project)
    assert time.monotonic() - began < 5
    assert project.status() == "?? store/\n"
    assert "store" not in project.agentctl("context", "t2").out


@pytest.mark.usefixtures("unconfined")
def test_case_32_of_two_steps_in_one_work_tree_the_second_names_the_first(case: Case) -> None:
    project = case("""mkrepo; printf 'until [ -e ../go ]; do sleep 0.05; done; grep -q "a + b" calc.py\n' > check.sh; git commit -qam slow""")
    answers(project, good())
    first = subprocess.Popen([sys.executable, "-m", "agent", "step"], cwd=project.root, env=_environment(), stderr=subprocess.PIPE, text=True)
    try:
        assert first.stderr is not None
        while "base checks" not in (line := first.stderr.readline()):
            assert line, "the first step ended"
        second = project.agentctl("step")
        assert (second.code, f"process {first.pid}" in second.err) == (75, True), second.err
    finally:
        (project.root.parent / "go").touch()
        said = first.communicate(timeout=30)[1]
    assert first.returncode == 0, said
    assert project.git("rev-list", "--count", "HEAD") == "3\n"


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(SOURCE)}


def test_case_115_on_a_read_only_file_system_reading_works_and_a_step_says_so(case: Case, tmp_path: Path) -> None:
    project = case("mkrepo")
    answers(project, good())
    script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && cd "$1" && shift && exec "$@"'
    ran = {}
    for command in ("status", "step"):
        argv = ["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh", str(project.root), sys.executable, "-m", "agent", command]
        done = subprocess.run(argv, cwd=tmp_path, env=_environment(), capture_output=True, text=True, check=False)
        if "unshare" in done.stderr or "mount:" in done.stderr:
            pytest.skip("no user namespaces here")
        ran[command] = done
    assert (ran["status"].returncode, ran["step"].returncode) == (0, 1), ran
    assert "can't write to" in ran["step"].stderr
    assert called(project) == 0
