"""Cases of kind a: what a step's commit holds, and what git's hooks, filters, names and settings do to it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cases.adapter import answers, called, changed, good, lands, only_a_note, refused
from tests.cases.conftest import Case
from tests.project import ADDS, call, edit, finish, reply

HOOK = ".git/hooks/pre-commit"


def test_case_4_a_hook_that_formats_and_refuses_once_is_met_by_a_second_try(case: Case) -> None:
    project = case(r"""
        mkrepo
        cat > .git/hooks/pre-commit <<'H'
#!/bin/sh
for f in $(git diff --cached --name-only -- '*.py'); do
  if ! grep -q '^# fmt$' "$f"; then printf '# fmt\n' >> "$f"; bad=1; fi
done
[ -z "${bad:-}" ] || { echo "files were modified by this hook"; exit 1; }
H
        chmod +x .git/hooks/pre-commit
        echo '#x' >> calc.py; not git commit -qam try; git checkout -q HEAD -- calc.py""")
    lands(project)
    assert project.git("show", "HEAD:calc.py") == "def add(a, b):\n    return a + b\n# fmt\n"
    assert project.status() == ""


def test_case_5_a_hook_that_refuses_is_never_passed_by(case: Case) -> None:
    project = case("""
        mkrepo; mkdir .githooks
        printf '#!/bin/sh\\ngit diff --cached -- calc.py | grep -q "a + b" && { echo "policy: no plus signs"; exit 1; }\\nexit 0\\n' > .githooks/pre-commit
        chmod +x .githooks/pre-commit; git add .githooks; git commit -qm hooks; git config core.hooksPath .githooks""")
    before = project.head()
    answers(project, good())
    ran = project.agentctl("step")
    assert ran.code == 4
    only_a_note(project, before)
    assert "policy: no plus signs" in project.agentctl("note", "t1").out
    assert project.agentctl("todo", "--json").json[0]["state"] == "open"


def test_case_7_line_ends_are_converted_as_git_add_does(case: Case) -> None:
    project = case(r"""
        mkrepo; git config core.autocrlf true
        printf 'one\r\ntwo\r\nthree\r\n' > t.txt; git add t.txt 2>/dev/null; git commit -qm t
        git ls-files --eol t.txt | grep -q 'i/lf *w/crlf'""")
    lands(project, edit("t.txt", "three", "three\nfour"))
    assert project.git("show", "--numstat", "--format=", "HEAD", "--", "t.txt") == "1\t0\tt.txt\n"
    assert (project.root / "t.txt").read_bytes() == b"one\r\ntwo\r\nthree\r\nfour\r\n"


FILTER = r"""
    mkrepo; git config filter.fake.clean 'sed s/real/pointer/'; git config filter.fake.smudge cat; git config filter.fake.required true
    echo '*.bin filter=fake' > .gitattributes; echo real > a.bin; git add -A; git commit -qm lfs
    [ "$(git show HEAD:a.bin)" = pointer ]"""


def test_case_8_clean_filters_run_on_what_lands(case: Case) -> None:
    project = case(FILTER)
    lands(project, call("write", path="a.bin", content="real2\n"))
    assert project.git("show", "HEAD:a.bin") == "pointer2\n"
    assert project.read("a.bin") == "real2\n"


def test_case_8_a_filter_that_fails_ends_the_step_and_the_next_one_picks_it_up(case: Case) -> None:
    project = case(FILTER + """; git config filter.fake.clean 'if grep real2; then echo no room on the server >&2; exit 1; else echo pointer; fi' """)
    before = project.head()
    answers(project, good(call("write", path="a.bin", content="real2\n")))
    ran = project.agentctl("step")
    assert ran.code == 1
    assert "a.bin: clean filter 'fake' failed" in ran.err
    assert project.head() == before
    project.git("config", "filter.fake.clean", "sed s/real/pointer/")
    ran = project.agentctl("step")
    assert (ran.code, "is put back; what it had done is kept in refs/agentctl/" in ran.err) == (0, True), ran.err


@pytest.mark.parametrize("where", ["vendor", "parent"])
def test_case_16_a_submodule_is_neither_moved_nor_written(case: Case, where: str) -> None:
    project = case("""
        mkrepo lib; cd ..; mkrepo; git -c protocol.file.allow=always submodule add -q ../lib vendor; git commit -qm sub
        (cd vendor && git commit -q --allow-empty -m ahead); git status --porcelain | grep -q ' M vendor'""")
    before = project.git("-C", "vendor", "log", "--format=%H"), project.git("rev-parse", "HEAD:vendor")
    if where == "parent":
        lands(project)
        assert changed(project) == ["calc.py"]
    else:
        answers(project, reply(edit("vendor/calc.py", "a - b", "a + b"), finish()))
        assert project.agentctl("step").code == 4
        assert (project.root / "vendor/calc.py").read_text().endswith("a - b\n")
    assert (project.git("-C", "vendor", "log", "--format=%H"), project.git("rev-parse", "HEAD:vendor")) == before
    assert project.status() == " M vendor\n"


def test_case_17_untracked_files_stay_out_of_the_commit(case: Case) -> None:
    project = case("""
        mkrepo; echo 'TOKEN=not-a-real-one' > .env; mkdir build; echo junk > build/out.o
        git status --porcelain | grep -q '?? .env'""")
    lands(project)
    assert changed(project) == ["calc.py"]
    assert project.status() == "?? .env\n?? build/\n"


def test_case_20_an_edit_of_an_ignored_file_does_not_happen(case: Case) -> None:
    project = case("""mkrepo; echo 'local.json' > .gitignore; git add .gitignore; git commit -qm ign; echo '{"a": 1}' > local.json""")
    answers(project, good(edit("local.json", "1", "2")))
    ran = project.agentctl("step")
    assert (ran.code, "local.json is ignored by git (.gitignore:1 local.json)" in ran.err) == (0, True), ran.err
    assert project.read("local.json") == '{"a": 1}\n'
    assert changed(project) == ["calc.py"]


def test_case_22_names_come_from_git_as_they_are(case: Case) -> None:
    project = case(r"""
        mkrepo; mkdir -p 'dö c'; for n in 'fänny file.py' 'quo"te.py' '-dash.py' 'tab	in.py'; do printf 'x = 1\n' > "dö c/$n"; done
        git add -A; git commit -qm names; git ls-files | grep -q '303'""")
    names = ["dö c/fänny file.py", 'dö c/quo"te.py', "dö c/-dash.py", "dö c/tab\tin.py"]
    lands(project, *(edit(name, "1", "2") for name in names), call("write", path="dö c/new ü.py", content="x = 2\n"))
    assert sorted(changed(project)) == sorted(["calc.py", *names, "dö c/new ü.py"])


def test_case_23_a_staged_name_that_is_not_utf8_is_seen_and_named(case: Case) -> None:
    project = case(r"""
        mkrepo; n=$(printf 'caf\351.txt'); echo one > "$n"; git add -A; git commit -qm latin; echo two > "$n"; git add "$n"
        not git diff --cached --quiet""")
    answers(project, good())
    refused(project, project.process("step"), "work is staged: caf", "git commit")


def test_case_23_a_name_that_is_not_utf8_stops_no_step(case: Case) -> None:
    project = case(r"""mkrepo; n=$(printf 'caf\351.txt'); echo one > "$n"; git add -A; git commit -qm latin; echo u > "$(printf 'un\351.txt')" """)
    answers(project, good(call("run", command="echo more >> caf*.txt; echo made > \"$(printf 'new\\351.txt')\""), note="Names new\\udce9.txt too."))
    ran = project.agentctl("step", "--json")
    assert "Traceback" not in ran.err
    assert ran.code == 4, ran.err  # the file that the command made can't be named in a note that is UTF-8
    assert "new" in ran.err
    answers(project, good(call("run", command="echo more >> caf*.txt")))
    ran = project.process("step")
    assert ran.code == 0, ran.err
    assert changed(project) == ["caf\udce9.txt", "calc.py"]


def test_case_25_the_executable_bit_survives(case: Case) -> None:
    project = case(r"""
        mkrepo; printf '#!/bin/sh\necho old\n' > run.sh; chmod 755 run.sh; git add run.sh; git commit -qm run
        git ls-files -s run.sh | grep -q '^100755'""")
    lands(project, edit("run.sh", "old", "new"))
    assert project.git("ls-files", "-s", "run.sh").startswith("100755")
    assert os.access(project.root / "run.sh", os.X_OK)
    assert "mode change" not in project.git("show", "--summary", "HEAD")


def test_case_26_links_are_kept_and_lead_nowhere_outside(case: Case) -> None:
    project = case("""
        mkrepo; echo a > real.txt; ln -s real.txt link.txt; echo secret > ../outside.txt; ln -s ../outside.txt out.txt; ln -s .git/config cfg.txt
        git add -A; git commit -qm links; git ls-files -s link.txt | grep -q '^120000'""")
    config = project.read(".git/config")
    lands(
        project,
        edit("out.txt", "secret", "stolen"),
        edit("cfg.txt", "[core]", "[evil]"),
        edit("../outside.txt", "secret", "stolen"),
        call("write", path=".git/hooks/post-commit", content="#!/bin/sh\n"),
        edit("link.txt", "a", "b"),
    )
    assert changed(project) == ["calc.py", "real.txt"]
    assert (project.root / "link.txt").readlink() == Path("real.txt")
    assert (project.root / "../outside.txt").read_text() == "secret\n"
    assert project.read(".git/config") == config
    assert not (project.root / ".git/hooks/post-commit").exists()


def test_case_29_settings_of_the_person_change_nothing_that_is_read(case: Case) -> None:
    project = case("""
        mkrepo; git config color.ui always; git config diff.noprefix true; git config diff.external 'echo EXTERNAL'
        git config log.showSignature true; git config core.pager 'less -+F'; git config log.date relative; git config status.relativePaths false
        git config diff.mnemonicPrefix true; git config core.quotePath true; git config format.pretty oneline; git config status.short true
        git config diff.renames copies; git config commit.cleanup strip; git config core.commentChar ';'; git config commit.verbose true
        echo >> calc.py; git diff | grep -q EXTERNAL; git checkout -q HEAD -- calc.py""")
    lands(project, note="; is no comment here.\n\n# Neither is this.")
    seen = project.agentctl("context", "t2").out + project.agentctl("log").out + project.agentctl("note").out
    assert "EXTERNAL" not in seen
    assert "\x1b" not in seen
    assert "; is no comment here." in project.git("log", "-1", "--no-show-signature", "--format=%B")


def test_case_34_what_a_check_leaves_behind_is_no_part_of_the_step(case: Case) -> None:
    project = case(r"""mkrepo; printf 'echo noise > nul\ngrep -q "a + b" calc.py\n' > check.sh; git commit -qam noisy""")
    lands(project)
    assert changed(project) == ["calc.py"]
    assert project.status() == "?? nul\n"


def test_case_34_nor_is_it_removed_with_a_failed_step_and_a_note_may_claim_it(case: Case) -> None:
    project = case(
        r"""mkrepo; printf 'mkdir -p out; echo 1 > out/some.lock; echo 2 > out/log; grep -q "a + b" calc.py\n' > check.sh; git commit -qam noisy"""
    )
    answers(project, reply(call("run", command="echo x > out/own"), finish("See out/own.")))
    assert project.agentctl("step").code == 4
    assert sorted(file.name for file in (project.root / "out").iterdir()) == ["log", "some.lock"]
    project.git("clean", "-fdq")
    project.write("check.sh", 'echo 1 > some.lock; grep -q "a + b" calc.py # once more\n')
    project.commit("another check")
    lands(project, note="some.lock is new.")
    assert changed(project) == ["calc.py", "some.lock"]


def test_case_34_a_red_round_in_between_makes_no_difference(case: Case) -> None:
    project = case(r"""mkrepo; printf 'echo noise > nul$$\ngrep -q "a + b" calc.py\n' > check.sh; git commit -qam noisy""")
    answers(project, reply(edit("calc.py", "a - b", "a * b"), finish()), reply(edit("calc.py", "a * b", "a + b"), finish()))
    ran = project.agentctl("step")
    assert ran.code == 0, ran.err
    assert changed(project) == ["calc.py"]


def test_case_34_a_name_that_windows_reserves_is_refused_by_name(case: Case) -> None:
    project = case("mkrepo")
    before = project.head()
    answers(project, good(call("run", command="mkdir src; echo 'x = 1' > src/aux.py"), note="src/aux.py is new."))
    ran = project.agentctl("step")
    assert (ran.code, called(project) > 1) == (4, True)
    only_a_note(project, before)
    assert "src/aux.py can't be checked out on Windows" in project.agentctl("note", "t1").out


@pytest.mark.usefixtures("unconfined")
def test_a_rename_that_git_knows_of_is_taken_back_with_a_failed_step(case: Case) -> None:
    project = case("mkrepo; echo 2 > 'old name.txt'; echo 3 > gone.txt; git add -A; git commit -qm pages")
    before = project.head()
    answers(project, reply(call("run", command="git mv 'old name.txt' new.txt; git rm -q gone.txt; echo x > y; git add y"), finish("y is new")))
    assert project.agentctl("step").code == 4
    assert project.status() == ""
    only_a_note(project, before)


def test_work_that_a_hook_would_refuse_is_kept_and_the_tree_is_clean(case: Case) -> None:
    project = case("mkrepo")
    project.write(HOOK, "#!/bin/sh\necho never\nexit 1\n").chmod(0o755)
    before = project.head()
    answers(project, reply(ADDS, finish()))
    ran = project.agentctl("step")
    assert (ran.code, "a hook refused its note too: never" in ran.err) == (4, True), ran.err
    assert "refs/agentctl/attempts/" in ran.err
    assert (project.head(), project.status()) == (before, "")
