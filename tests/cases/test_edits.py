"""Cases of kind b, as far as the whole step adds to what the tools hold by themselves (tests/worker)."""

from __future__ import annotations

from tests.cases.adapter import answers, called, changed, good, lands, only_a_note
from tests.cases.conftest import Case
from tests.project import ADDS, call, edit, finish, reply


def test_case_38_edits_of_one_reply_in_any_order_land_together(case: Case) -> None:
    project = case(r"mkrepo; printf 'import os\n\n\ndef f():\n    return 1\n' > o.py; git add -A; git commit -qm o")
    lands(project, edit("o.py", "return 1", "return 2"), edit("o.py", "import os", "import sys"))
    assert project.git("show", "HEAD:o.py") == "import sys\n\n\ndef f():\n    return 2\n"


def test_case_43_and_44_bytes_that_no_edit_names_are_in_the_commit_as_they_were(case: Case) -> None:
    project = case(r"""
        mkrepo; printf '\357\273\277Write-Host "h\303\251"\nexit 0\n' > s.ps1
        printf 'x = 1\n# caf\351 \326\320\n' > old.py; git add -A; git commit -qm bytes""")
    lands(project, edit("s.ps1", "Write-Host", "Write-Output"), edit("old.py", "x = 1", "x = 2"))
    assert project.git("show", "HEAD:s.ps1").encode("utf-8", "surrogateescape") == b'\xef\xbb\xbfWrite-Output "h\xc3\xa9"\nexit 0\n'
    assert project.git("show", "HEAD:old.py").encode("utf-8", "surrogateescape") == b"x = 2\n# caf\xe9 \xd6\xd0\n"


def test_case_46_a_placeholder_for_the_rest_of_a_file_does_not_land(case: Case) -> None:
    project = case("mkrepo; seq 1 200 | sed 's/^/value_/; s/$/ = 0/' > big.py; git add -A; git commit -qm big")
    before = project.head()
    answers(project, reply(call("write", path="big.py", content="value_1 = 1\n# ... rest of file unchanged ...\n"), finish()))
    assert project.agentctl("step").code == 4
    assert len(project.read("big.py").splitlines()) == 200
    only_a_note(project, before)


def test_case_47_a_deleted_and_a_renamed_file_come_back_by_one_revert(case: Case) -> None:
    project = case("mkrepo; echo 1 > sub.html; echo 2 > 'old name.txt'; git add -A; git commit -qm pages")
    lands(project, call("run", command="rm sub.html; mv 'old name.txt' 'new name.txt'"), note="The page is 'new name.txt' now.")
    told = project.git("show", "--name-status", "-M100", "--format=", "HEAD")
    assert "D\tsub.html" in told
    assert "R100\told name.txt\tnew name.txt" in told
    project.git("revert", "--no-edit", "HEAD")
    assert (project.root / "sub.html").exists()
    assert (project.root / "old name.txt").exists()
    assert not (project.root / "new name.txt").exists()


def test_case_49_what_a_formatter_changed_in_between_lands_too(case: Case) -> None:
    project = case(r"mkrepo; printf 'x=1\ny = 2\nz = 3\n' > f.py; git add -A; git commit -qm f")
    lands(project, call("read", path="f.py"), call("run", command="sed -i 's/^x=1$/x = 1/' f.py"), edit("f.py", "z = 3", "z = 4"))
    assert project.git("show", "HEAD:f.py") == "x = 1\ny = 2\nz = 4\n"


def test_case_50_work_that_was_done_by_hand_becomes_a_question_not_a_loop(case: Case) -> None:
    project = case("mkrepo; sed -i 's/a - b/a + b/' calc.py; git commit -qam done-by-hand")
    answers(project, reply(ADDS, finish()), reply(call("ask", question="add() adds already: is there anything left to do?")))
    ran = project.agentctl("step")
    assert (ran.code, called(project)) == (6, 2)
    assert "add() adds already" in project.agentctl("todo").out
    assert project.agentctl("todo", "done", "t1", "--because", "It was done by hand.").code == 0
    assert project.agentctl("todo", "--json").json[0]["state"] == "done"


def test_case_52_files_come_only_from_paths_never_from_what_is_in_a_file(case: Case) -> None:
    project = case("mkrepo")
    content = "# Calc\n\n```bash\ngit clone <repo>\n```\n\nThen:\n\n```\nnpm run dev\n```\n\nlast line\n"
    lands(project, call("write", path="README.md", content=content))
    assert changed(project) == ["README.md", "calc.py"]
    assert project.git("show", "HEAD:README.md") == content


def test_a_step_is_all_or_nothing_when_one_file_of_it_is_refused(case: Case) -> None:
    project = case("mkrepo")
    before = project.head()
    answers(project, good(call("write", path="key.py", content='KEY = "AKIA' + "Q3EGRIPT7XWZ2M5N" + '"\n')))
    assert project.agentctl("step").code == 4
    only_a_note(project, before)
    assert "Q3EGRIPT7XWZ2M5N" not in project.git("log", "-p")
