"""Cases of kind c: the list and the notes, as people write them and as agentctl keeps them."""

from __future__ import annotations

import time

import pytest

from agent.domain.todo import Item, check_links
from tests.cases.adapter import answers, called, changed, good, lands, refused
from tests.cases.conftest import Case
from tests.project import call


def test_case_53_a_colon_in_a_title_is_a_colon(case: Case) -> None:
    project = case("mkrepo; printf '# Fix: make add() add: all of it\n' > .agent/todo/t1.md; git commit -qam colon")
    lands(project)
    assert project.git("log", "-1", "--format=%s") == "t1: Fix: make add() add: all of it\n"


def test_case_53_a_colon_in_the_head_is_told_with_its_line_and_the_mend(case: Case) -> None:
    project = case(r"""
        mkrepo; printf -- '---\norder: 1\nwhy: Fix: make add() add\n---\n# Make add() add\n' > .agent/todo/t1.md; git commit -qam colon""")
    for command in ("step", "todo", "status"):
        refused(project, project.agentctl(command), ".agent/todo/t1.md:3", "Fix: make add() add", "quote")
    assert project.status() == ""


TITLES = (
    'don\'t break it\'s: "quotes" #1', "- dash", "[WIP] {x}", "yes", "010", "2024-01-05", "*star*", "@at", "tab\tinside", "line1\nline2", "trailing space ",
    "'single", "| bar", "> more", "%percent", "!bang", "&anchor", "~", "null", "---", "...", "Ünïcödé – 日本語 🎉", "a: b", "# hash # in it", "`ticks`", "\\n", "<<: x",
)  # fmt: skip


def test_case_55_any_title_comes_back_as_it_was_said_but_for_its_white_space(case: Case) -> None:
    project = case("mkrepo; rm .agent/todo/t2.md; git commit -qam one")
    lands(project, *(call("propose", title=title, text=f"Words: {title * 3}", check=f"true '{' '.join(title.split())}'") for title in TITLES))
    rows = project.agentctl("todo", "--all", "--json").json
    assert sorted(row["title"] for row in rows) == sorted(["Make add() add", *(" ".join(title.split()).removeprefix("# ") for title in TITLES)])
    assert {row["checks"][0] for row in rows if row["checks"]} == {f"true '{' '.join(title.split())}'" for title in TITLES}


def test_case_55_the_command_line_takes_such_titles_too(case: Case) -> None:
    project = case("mkrepo; rm .agent/todo/*; git commit -qam none")
    for title in ("- dash", 'don\'t: "x" #1', "--help me"):
        assert project.agentctl("todo", "add", "--", title).code == 0
    assert [row["title"] for row in project.agentctl("todo", "--json").json] == ["- dash", 'don\'t: "x" #1', "--help me"]


def test_case_56_marks_of_other_languages_are_only_text(case: Case) -> None:
    title = r"Make add() add, cost $15,000 \1 \g<0> %s {0} {id} $& $HOME"
    project = case(f"mkrepo; cat > .agent/todo/t1.md <<'Y'\n# {title}\nY\ngit commit -qam dollars")
    lands(project, note=r"saved $1 and \1, {0} and %s")
    assert project.git("log", "-1", "--format=%s") == f"t1: {title}\n"
    assert r"saved $1 and \1, {0} and %s" in project.git("log", "-1", "--format=%b")
    note = project.agentctl("note", "t1").out
    assert title in note
    assert r"saved $1 and \1, {0} and %s" in note


def test_case_58_no_is_a_word_and_on_is_no_number(case: Case) -> None:
    project = case(
        r"mkrepo; printf '# No\n' > .agent/todo/t1.md; printf -- '---\nafter: [no]\nx-on: on\n---\n# Yes\n' > .agent/todo/no.md; git add .; git commit -qm bool"
    )
    refused(project, project.agentctl("todo"), "no needs itself")
    project.write(".agent/todo/no.md", "---\nafter: t1\nchecks: yes\n---\n# Yes\n")
    project.commit("mended")
    brief = project.agentctl("context", "t1").out
    assert "# Your item\n\nt1: No" in brief or "No\n" in brief
    assert "False" not in brief
    assert [(row["title"], row["checks"]) for row in project.agentctl("todo", "--json").json if row["id"] == "no"] == [("Yes", ["yes"])]
    project.write(".agent/todo/no.md", "---\norder: on\n---\n# Yes\n")
    project.commit("wrong")
    refused(project, project.agentctl("step"), ".agent/todo/no.md:2", "order wants a number, not 'on'")


def test_case_59_a_key_that_stands_twice_is_told_with_both_lines(case: Case) -> None:
    project = case(r"mkrepo; printf -- '---\norder: 1\nchecks: [a]\norder: 2\n---\n# Make add() add\n' > .agent/todo/t1.md; git commit -qam dup")
    refused(project, project.agentctl("step"), ".agent/todo/t1.md:4", "order stands twice, at lines 2 and 4", "keep one")


def test_case_59_a_second_file_for_an_id_can_not_be_named(case: Case) -> None:
    project = case("mkrepo; printf '# Another\n' > .agent/todo/T1.md; git add .; git commit -qm twin")
    refused(project, project.agentctl("step"), ".agent/todo/T1.md", "only a-z, 0-9 and -")


def test_case_61_items_added_on_two_branches_are_all_there_after_the_merge(case: Case) -> None:
    project = case("mkrepo; git branch side")
    for branch, title in (("main", "From main"), ("side", "From side")):
        project.git("switch", "--quiet", branch)
        assert project.agentctl("todo", "add", title).code == 0
        assert project.agentctl("todo", "add", "On both").code == 0
    project.git("switch", "--quiet", "main")
    project.git("merge", "--quiet", "side")
    titles = [row["title"] for row in project.agentctl("todo", "--json").json]
    assert sorted(titles) == ["Add sub()", "From main", "From side", "Make add() add", "On both"]


def test_case_61_a_merge_that_was_committed_with_its_marks_is_refused(case: Case) -> None:
    project = case(r"""
        mkrepo; git branch side
        printf '# Make it add\n' > .agent/todo/t1.md; git commit -qam main; git switch -q side
        printf '# Let it add\n' > .agent/todo/t1.md; git commit -qam side
        git switch -q main; not git merge -q side; git commit -qam merged; grep -q '^=======' .agent/todo/t1.md""")
    refused(project, project.agentctl("step"), ".agent/todo/t1.md:1", "a merge left a conflict here", "remove the marks")


def test_case_61_one_title_with_two_texts_on_two_branches_is_a_conflict_that_git_shows(case: Case) -> None:
    project = case("mkrepo; git branch side")
    for branch in ("main", "side"):
        project.git("switch", "--quiet", branch)
        project.agentctl("todo", "add", "On both", "--text", f"As {branch} wants it.")
    project.git("merge", "main", check=False)
    assert project.status() == "AA .agent/todo/on-both.md\n"
    refused(project, project.agentctl("step"), "a merge is under way", "git merge --abort")


CIRCLE = r"""
    mkrepo; rm .agent/todo/*
    printf -- '---\nafter: [b]\n---\n# A\n' > .agent/todo/a.md
    printf -- '---\nafter: [c]\n---\n# B\n' > .agent/todo/b.md
    printf -- '---\nafter: [a, c, task-0]\n---\n# C\n' > .agent/todo/c.md
    git add -A; git commit -qm cycle"""


def test_case_62_circles_and_unknown_items_are_told(case: Case) -> None:
    project = case(CIRCLE)
    for command in ("step", "todo"):
        refused(project, project.agentctl(command), "a -> b -> c -> a", "c needs itself", "c needs task-0, which is no item")


def test_case_62_a_long_chain_is_looked_through_in_no_time() -> None:
    chain = [Item(f"i{n}", "x", after=(f"i{n + 1}",)) for n in range(5000)] + [Item("i5000", "x")]
    began = time.process_time()
    check_links(chain)
    assert time.process_time() - began < 1


def test_case_62_nothing_ready_and_nothing_left_differ(case: Case) -> None:
    project = case(r"mkrepo; printf -- '---\nafter: [t1]\n---\n# Add sub()\n' > .agent/todo/t2.md; git commit -qam after")
    assert project.agentctl("todo", "drop", "t1", "--because", "Not wanted.").code == 0
    refused(project, project.agentctl("step"), "t2 waits for t1", code=6)
    assert project.agentctl("todo", "drop", "t2", "--because", "Nor this.").code == 0
    refused(project, project.agentctl("step"), "nothing is left to do", code=3)


OWN = """mkrepo; cat > .agent/todo/t1.md <<'Y'
---
# owner: see CODEOWNERS
x-estimate: 3h   # keep
order:   1
links: ["https://example.invalid/1"]
team: {colour: red}
---
#   naïve – make add() add, and here follows a deliberately long explanation that goes well past eighty columns

Text\twith a tab,  two blanks and a trailing one.\x20
Y
git commit -qam own"""


def test_case_64_and_65_a_step_leaves_a_persons_file_alone(case: Case) -> None:
    project = case(OWN)
    lands(project)
    assert changed(project) == ["calc.py"]
    assert project.git("diff", "HEAD~1", "--", ".agent/todo", ".agent/config.yaml", ".agent/goal.md") == ""


def test_case_64_and_65_an_edit_changes_the_line_that_it_is_about(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    project = case(OWN)
    monkeypatch.setenv("EDITOR", "sed -i 's/goes well past/goes far beyond/'")
    ran = project.agentctl("todo", "edit")
    assert ran.code == 0, ran.err
    assert project.git("show", "--numstat", "--format=", "HEAD") == "1\t1\t.agent/todo/t1.md\n"
    assert "far beyond eighty columns\n" in project.git("show", "--format=", "HEAD")


MARKS = "## Step 2\n---\n<!-- agentctl:end -->\n<!-- agentctl:begin -->\n## Handoff\nnot the letter\n```\n## Handoff\n---\n```\n***"


def test_case_67_marks_inside_a_note_are_text_and_nothing_nests(case: Case) -> None:
    project = case("mkrepo")
    answers(project, good(note=MARKS, letter=f"Letter.\n\n{MARKS}"))
    assert project.agentctl("step").code == 0
    first = project.git("ls-files", ".agent/notes").strip()
    before = project.read(first)
    project.agentctl("todo", "add", "Again")
    answers(project, good(call("write", path="b.py", content="b = 1\n"), note=MARKS, letter=f"Letter.\n\n{MARKS}"))
    assert project.agentctl("step", "t2").code == 0
    assert project.read(first) == before
    second = next(path for path in project.git("ls-files", ".agent/notes").split() if path != first)
    assert abs(len(project.read(second)) - len(before)) < 100
    assert project.agentctl("handoff").out.count("Letter.") == 1
    assert "not the letter" in project.agentctl("handoff").out.partition("Letter.")[2]


def test_case_68_a_linked_item_is_refused_since_its_text_is_in_no_commit(case: Case) -> None:
    project = case("""
        mkrepo; mkdir ../agentstore; mv .agent/todo/t1.md ../agentstore/; ln -s ../../../agentstore/t1.md .agent/todo/t1.md
        git add -A; git commit -qm linked""")
    refused(project, project.agentctl("step"), ".agent/todo/t1.md", "this is a link", "put the file itself in its place")
    assert called(project) == 0


def test_case_68_what_is_reported_is_what_was_committed(case: Case) -> None:
    project = case("mkrepo")
    project.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n").chmod(0o755)
    assert project.agentctl("todo", "done", "t1", "--because", "By hand.").code == 1
    assert {row["state"] for row in project.agentctl("todo", "--json").json} == {"open"}
    assert project.status() == ""


def test_a_file_among_the_notes_whose_name_is_no_moment_stops_nothing(case: Case) -> None:
    project = case(
        "mkrepo; mkdir -p .agent/notes/2026-02-30; printf '# x\n' > .agent/notes/2026-02-30/126199-t1.done.md; git add -A; git commit -qm odd"
    )
    lands(project)
