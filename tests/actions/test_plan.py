"""Planning on real repositories: from files, from globs, and with the recorded model through the real door."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.actions.people import add_items, item_files, new_items
from agent.actions.plan import PlanResult, plan_each, plan_from_file, plan_with_model
from agent.actions.scene import open_scene
from agent.domain.adding import in_sequence
from agent.domain.each import items_for
from agent.domain.events import ignore
from agent.domain.names import Outcome
from agent.domain.todo import NewItem, title_key
from agent.errors import AgentctlError, Exit
from agent.ledger import Ledger
from agent.model.errors import ModelError
from agent.model.opening import open_model
from agent.model.protocol import Endpoint, Model, Task
from agent.repository.repo import discover
from agent.worker.protocol import Ending
from tests.project import Project, call, finish, reply

NOW = datetime(2026, 11, 29, 13, 3, 55, tzinfo=UTC)


def add(project: Project, wanted: list[NewItem]) -> tuple[list[str], list[str]]:
    scene = open_scene(discover(project.root))
    items, known, _ = add_items(scene, wanted, "plan\n")
    return [item.id for item in items], known


def order(project: Project) -> list[str]:
    return [item.id for item in open_scene(discover(project.root)).ordered]


# --- from a file ---------------------------------------------------------------------------------------------------


def test_the_order_of_the_file_is_the_order_of_the_list(project: Project) -> None:
    assert add(project, plan_from_file("- Zebra\n- Mole\n- Ant\n", "plan.md")) == (["zebra", "mole", "ant"], [])
    assert order(project) == ["zebra", "mole", "ant"]
    assert add(project, plan_from_file("- [x] Zebra\n- Ant\n- Yak\n- Bee\n", "plan.md")) == (["yak", "bee"], ["Ant"])
    assert order(project) == ["zebra", "mole", "ant", "yak", "bee"]


def test_titles_of_any_kind_come_back_from_the_list_as_they_were_given(project: Project) -> None:
    titles = [
        "don't break it's: \"quotes\" #1", "- dash", "[WIP] {x}", "yes", "010", "2024-01-05", "*star*", "@at", "cost $15,000 \\1 \\g<0> %s {0} $& $HOME",
    ]  # fmt: skip
    add(project, [NewItem(title, checks=(f"echo  '{title}'",), text=title) for title in titles])
    items = open_scene(discover(project.root)).ordered
    assert [item.title for item in items] == titles
    assert [item.text for item in items] == titles
    assert [item.checks for item in items] == [(f"echo  '{title}'",) for title in titles]


def test_after_names_titles_or_ids_of_the_file_and_of_the_list(project: Project) -> None:
    add(project, [NewItem("Old one")])
    wanted = plan_from_file("- title: Last\n  after: [the FIRST, mid-dle, Old one]\n- The first\n- title: Mid dle\n  after: old-one\n", "plan.yaml")
    add(project, wanted)
    scene = open_scene(discover(project.root))
    assert {item.id: item.after for item in scene.memory.items} == {
        "old-one": (), "last": ("the-first", "mid-dle", "old-one"), "the-first": (), "mid-dle": ("old-one",),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- title: A\n  after: B\n- title: B\n  after: C\n- title: C\n  after: [A, C, task-0]\n", ["a -> b -> c -> a", "c needs itself", "task-0"]),
        ("- title: A\n  after: A\n", ["a needs itself"]),
    ],
)
def test_circles_and_unknown_items_are_named_and_nothing_is_written(project: Project, text: str, said: list[str]) -> None:
    with pytest.raises(AgentctlError) as caught:
        add(project, plan_from_file(text, "plan.yaml"))
    assert all(word in caught.value.message for word in said)
    assert project.status() == ""


def test_an_order_that_was_given_stays_and_the_others_come_behind() -> None:
    wanted = [NewItem("a"), NewItem("b", order=7), NewItem("c")]
    assert [one.order for one in in_sequence(wanted, [None, 33.5])] == [40, 7, 60]
    assert in_sequence([NewItem("a")], [10]) == [NewItem("a")]


# --- one for each file ---------------------------------------------------------------------------------------------


@pytest.fixture
def contracts(project: Project) -> Project:
    for path in ("contracts/a.txt", "contracts/deep/er/a.txt", "contracts/deep/b.txt", "contracts/b.md", "contracts/it's {name} a  b.txt", "top.txt"):
        project.write(path, path)
    project.commit("contracts")
    project.write("contracts/untracked.txt", "")
    return project


def each(project: Project, glob: str, cwd: str = "", **more: Any) -> list[NewItem]:
    return plan_each(discover(project.root / cwd), glob, **{"title": "Review {path}", **more})


@pytest.mark.parametrize(
    ("glob", "paths"),
    [
        ("contracts/**/*.txt", ["contracts/a.txt", "contracts/deep/b.txt", "contracts/deep/er/a.txt", "contracts/it's {name} a  b.txt"]),
        ("contracts/*.txt", ["contracts/a.txt", "contracts/it's {name} a  b.txt"]),
        ("./contracts/deep/**", ["contracts/deep/b.txt", "contracts/deep/er/a.txt"]),
        ("*.txt", ["top.txt"]),
        ("contracts/[ab].*", ["contracts/a.txt", "contracts/b.md"]),
    ],
)
def test_each_tracked_file_that_matches_gets_an_item(contracts: Project, glob: str, paths: list[str]) -> None:
    assert [item.text for item in each(contracts, glob, text="{path}")] == paths


def test_in_a_part_of_a_monorepo_paths_are_relative_to_it(project: Project) -> None:
    project.write("apps/[we*b]/.agent/goal.md", "x\n")
    project.write("apps/[we*b]/src/a.py", "")
    project.write("apps/web/src/b.py", "")
    project.write("src/c.py", "")
    project.commit("apps")
    assert [item.title for item in each(project, "src/*.py", cwd="apps/[we*b]")] == ["Review src/a.py"]


def test_submodules_and_agentctls_own_files_get_none(project: Project) -> None:
    project.git("update-index", "--add", "--cacheinfo", f"160000,{project.head()},lib")
    project.git("commit", "-q", "-m", "sub")
    assert [item.title for item in each(project, "**")] == ["Review calc.py", "Review check.sh"]


def test_a_check_gets_the_path_as_one_word_of_the_shell(contracts: Project) -> None:
    items = each(contracts, "contracts/*a*.txt", checks=["cat {path} '{path}' \"{path}\" | awk '{print}'", "test -f {name}.{stem}"])
    for item, path in zip(items, ["contracts/a.txt", "contracts/it's {name} a  b.txt"], strict=True):
        out = subprocess.run(["sh", "-c", item.checks[0]], cwd=contracts.root, capture_output=True, check=True).stdout
        assert out.decode() == path * 3 + "\n"
    add(contracts, items)
    stored = open_scene(discover(contracts.root)).ordered
    assert [item.checks for item in stored] == [item.checks for item in items]


def test_a_name_that_begins_with_a_dash_is_no_option(project: Project) -> None:
    project.write("-n.txt", "x")
    project.commit("odd", "./-n.txt")
    assert each(project, "*.txt", checks=["cat {path}"])[0].checks == ("cat ./-n.txt",)


def test_braces_that_mean_nothing_and_back_references_stay(contracts: Project) -> None:
    (item,) = each(contracts, "top.txt", title="{path}: {0} {} {file} \\1 \\g<0> $1 %s", text="{stem} {name} {{path}}")
    assert item.title == "top.txt: {0} {} {file} \\1 \\g<0> $1 %s"
    assert item.text == "top top.txt {top.txt}"


@pytest.mark.parametrize(
    ("glob", "title", "titles"),
    [
        ("contracts/**/a.txt", "Review {name}", ["Review a.txt (contracts/a.txt)", "Review a.txt (contracts/deep/er/a.txt)"]),
        ("contracts/[ab].*", "Review {name}", ["Review a.txt", "Review b.md"]),
        ("contracts/[ab].*", "Review {stem}", ["Review a (contracts/a.txt)", "Review b (contracts/b.md)"]),
        ("contracts/deep/*.txt", "Review {stem}", ["Review b"]),
        ("contracts/deep/**", "Review", ["Review (contracts/deep/b.txt)", "Review (contracts/deep/er/a.txt)"]),
    ],
)
def test_a_title_that_may_not_tell_files_apart_gets_the_path(contracts: Project, glob: str, title: str, titles: list[str]) -> None:
    assert [item.title for item in each(contracts, glob, title=title)] == titles


def test_a_second_run_adds_only_what_is_new(contracts: Project) -> None:
    first = add(contracts, each(contracts, "contracts/**/*.txt", title="Review {name}"))[0]
    contracts.write("contracts/0/a.txt", "")
    contracts.commit("one more", "contracts/0")
    ids, known = add(contracts, each(contracts, "contracts/**/*.txt", title="Review {name}"))
    assert ids == ["review-a-txt-contracts-0-a-txt"]
    assert len(known) == len(first)


PATHS = st.lists(st.text("aAb ./é", min_size=1, max_size=8), unique=True, min_size=1, max_size=8)


@given(paths=PATHS, title=st.sampled_from(["{path}", "{name}", "{stem}", "x", "{path}" + "y" * 195]))
def test_no_two_files_whatever_get_the_same_title(paths: list[str], title: str) -> None:
    items = items_for(paths, "**", NewItem(title))
    assert len({title_key(item.title) for item in items}) == len(paths)


@pytest.mark.parametrize(
    ("glob", "said"), [("nothing/*.txt", "no tracked file matches nothing/"), ("", "the glob is empty"), ("../x", "no tracked file matches")]
)
def test_a_glob_that_matches_nothing_says_so(contracts: Project, glob: str, said: str) -> None:
    with pytest.raises(AgentctlError, match=said) as caught:
        each(contracts, glob)
    assert caught.value.hint


@pytest.mark.parametrize("name", [b"new\nline.txt", b"tab\t.txt", b"\xff.txt", b"esc\x1b.txt"])
def test_a_name_that_no_line_of_text_can_hold_is_refused(project: Project, name: bytes) -> None:
    (project.root / "odd").mkdir()
    Path(str(project.root) + "/odd/x").write_text("")
    (project.root / "odd/x").rename(project.root / "odd" / name.decode("utf-8", "surrogateescape"))
    project.commit("odd", "odd")
    with pytest.raises(AgentctlError, match="can't stand in an item"):
        each(project, "odd/*")


def test_a_thousand_files_are_planned_quickly(project: Project) -> None:
    blob = project.git("hash-object", "-w", "calc.py").strip()
    listing = "".join(f"100644 {blob}\tcontracts/{number % 20}/contract-{number}.txt\n" for number in range(1000))
    subprocess.run(["git", "update-index", "--index-info"], cwd=project.root, input=listing.encode(), check=True)
    scene = open_scene(discover(project.root))
    began = time.process_time()
    wanted = each(project, "contracts/**/*.txt", text="Read {path} and say what is odd.", checks=["test -s {path}"])
    items, _ = new_items(scene, wanted)
    files = item_files(scene, items)
    assert time.process_time() - began < 10  # measured: 1.1 s; growth with the square would take minutes
    assert len(files) == 1000


# --- siblings ------------------------------------------------------------------------------------------------------

TEXTS = {
    "none": "",
    "short": "Read it.",
    "long": "\n".join(f"{number}. Look for whatever is odd about the parties, dates, sums and signatures, and say so." for number in range(30)),
    "path in front": "{path} " + "is to be read closely, and whatever is odd about it is to be written down in the note. " * 6,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
@pytest.mark.parametrize("checks", [[], ["python -m pytest -q --strict-markers -p no:cacheprovider tests/test_contracts.py && test -s {path}"]])
def test_items_of_one_template_are_no_renames_of_each_other(contracts: Project, text: str, checks: list[str]) -> None:
    wanted = each(contracts, "contracts/**/*.txt", text=text, checks=checks, allow=["no-change"])
    scene = open_scene(discover(contracts.root))
    items, _, _ = add_items(scene, wanted[:2], "plan\n")
    more, _, _ = add_items(open_scene(scene.repo), wanted[2:], "more of the same\n")
    files = [f".agent/{item.path}" for item in [*items, *more]]
    contracts.git("rm", "-q", "--", *files)
    contracts.commit("all gone", ".agent")
    for gone in files:
        contracts.git("checkout", "HEAD~1", "--", gone)
        contracts.git("commit", "-q", "-m", "one is there")
        for come in files:
            if come != gone:
                contracts.git("rm", "-q", "--", gone)
                contracts.git("checkout", "HEAD~2", "--", come)
                found = contracts.git("diff", "--cached", "-M50%", "--name-status", "HEAD").split()
                assert [word[0] for word in found[::2]] == ["A", "D"] or [word[0] for word in found[::2]] == ["D", "A"]
                contracts.git("reset", "-q", "--hard")
        contracts.git("reset", "-q", "--hard", "HEAD~1")


def test_an_edit_of_an_item_that_another_branch_took_back_never_lands_in_its_sibling(contracts: Project) -> None:
    wanted = each(contracts, "contracts/**/*.txt", text=TEXTS["long"])
    (ours, _), _ = add(contracts, wanted[:2])
    contracts.git("switch", "-q", "-c", "side")
    contracts.write(f".agent/todo/{ours}.md", contracts.read(f".agent/todo/{ours}.md").replace("7. Look", "7. Look twice"))
    contracts.commit("edit", ".agent")
    contracts.git("switch", "-q", "main")
    contracts.git("revert", "--no-edit", "HEAD")
    (other, _), _ = add(contracts, wanted[2:])
    before = contracts.read(f".agent/todo/{other}.md")
    contracts.git("merge", "-q", "--no-edit", "side", check=False)
    assert contracts.read(f".agent/todo/{other}.md") == before
    assert contracts.git("diff", "--name-only", "--diff-filter=U").split() == [f".agent/todo/{ours}.md"]


def test_items_that_differ_anyhow_carry_nothing_for_git(project: Project) -> None:
    scene = open_scene(discover(project.root))
    items, _, _ = add_items(
        scene, [NewItem("One", "A whole paragraph about one thing."), NewItem("Two", "And about quite another thing: this.")], "p\n"
    )
    for item in items:
        assert "kept unlike" not in dict(item_files(scene, [item]))[item.path]


# --- with a model --------------------------------------------------------------------------------------------------


def plan(project: Project, now: datetime = NOW, **more: Any) -> PlanResult:
    def opened(name: str, task: Task) -> Model:
        return open_model(name, endpoint=Endpoint(), task=task, root=project.root)

    return plan_with_model(
        discover(project.root), model_name=lambda _: f"scripted:{project.recording}", open_model=opened, listen=ignore, now=now, **more
    )


def record(project: Project, *attempts: Sequence[Mapping[str, Any]]) -> None:
    project.record({}, plan=[{"replies": list(replies)} for replies in attempts])


def propose(title: str, text: str = "Done means done.", **more: Any) -> dict[str, Any]:
    return call("propose", title=title, text=text, **more)


LOOKED = [
    reply(call("list"), call("read", path="calc.py"), text="Look first."),
    reply(propose("Zero", check="python -c  'import calc'"), propose("Add adds")),
    reply(propose("Mul"), finish("Cut by function.", "Begin with zero.")),
]


def test_what_the_model_proposes_lands_in_its_order_as_one_commit_with_a_letter(project: Project) -> None:
    record(project, LOOKED)
    head = project.head()
    result = plan(project)
    assert project.git("rev-list", f"{head}..HEAD").split() == [result.commit]
    assert project.status() == ""
    scene = open_scene(discover(project.root))
    assert [(item.title, item.order) for item in scene.ordered] == [("Zero", 10), ("Add adds", 20), ("Mul", 30)]
    assert scene.ordered == result.items
    assert scene.ordered[0].checks == ("python -c  'import calc'",)
    assert scene.letter == (result.name, result.note)
    assert (result.name.outcome, result.name.step.name, result.ending) == (Outcome.LETTER, "plan", Ending.FINISHED)
    assert result.note.letter == "Begin with zero."
    assert result.note.spent is not None
    assert (result.note.spent.usd, result.note.spent.input) == (0.03, 3000)
    assert f"Agent-Step: {result.name.step}" in project.git("log", "-1", "--format=%B")
    assert set(project.git("show", "--format=", "--name-only").split()) == {
        f".agent/{path}" for path in [result.name.path, *(item.path for item in result.items)]
    }


def test_every_call_of_the_model_is_charged(project: Project) -> None:
    record(project, LOOKED)
    result = plan(project)
    calls, _ = Ledger(discover(project.root).shared).read()
    assert [(one.step, one.item, one.usage.usd) for one in calls] == [(str(result.name.step), "plan", 0.01)] * 3


def test_a_plan_is_extended_without_what_the_list_has(project: Project) -> None:
    record(project, LOOKED, [reply(propose("ZERO"), propose("Div"), propose("Neg"), finish())])
    plan(project)
    result = plan(project)
    assert (result.known, [(item.title, item.order) for item in result.items]) == (("ZERO",), [("Div", 40), ("Neg", 50)])
    assert [item.title for item in open_scene(discover(project.root)).ordered] == ["Zero", "Add adds", "Mul", "Div", "Neg"]
    record(project, [reply(propose("Mul"), finish())])
    with pytest.raises(AgentctlError, match="the list has all 1 items") as caught:
        plan(project)
    assert caught.value.code is Exit.NOTHING_LEFT


def test_two_branches_that_plan_the_same_merge(project: Project) -> None:
    record(project, LOOKED)
    project.git("branch", "side")
    plan(project)
    project.git("switch", "-q", "side")
    record(project, [reply(propose("Zero", "Something else."), propose("Mul"), finish("Another cut of it.", "Begin elsewhere."))])
    plan(project, NOW + timedelta(minutes=1))
    project.git("merge", "-q", "--no-edit", "main")
    assert len(order(project)) == 5


def test_a_dirty_tree_stays_as_it_is(project: Project) -> None:
    record(project, LOOKED)
    project.write("calc.py", "changed = 1\n")
    project.write("staged.py", "staged = 1\n")
    project.git("add", "staged.py")
    plan(project)
    assert project.status() == " M calc.py\nA  staged.py\n"


def test_the_model_can_only_read(project: Project) -> None:
    record(project, [reply(call("write", path="x.py", content="x"), call("run", command="touch y.py")), reply(propose("One"), finish())])
    plan(project)
    assert project.status() == ""
    assert project.git("show", "--format=", "--name-only").count(".agent/") == 2


@pytest.mark.parametrize(
    ("replies", "said"),
    [
        ([reply(finish("There is nothing to do."))], "the model proposed no item: There is nothing to do"),
        ([reply(text="Hm.")] * 3, "the model proposed no item"),
    ],
)
def test_a_model_that_proposes_nothing_changes_nothing(project: Project, replies: list[Mapping[str, Any]], said: str) -> None:
    record(project, replies)
    head = project.head()
    with pytest.raises(AgentctlError, match=said) as caught:
        plan(project)
    assert caught.value.hint
    assert (project.head(), project.status()) == (head, "")


def test_a_model_that_fails_changes_nothing_but_what_was_spent(project: Project) -> None:
    record(project, [reply(propose("One")), {"error": {"kind": "wait", "message": "overloaded"}}])
    head = project.head()
    with pytest.raises(ModelError, match="overloaded"):
        plan(project)
    assert (project.head(), project.status()) == (head, "")
    assert sum(one.usage.usd or 0 for one in Ledger(discover(project.root).shared).read()[0]) == 0.01


def test_what_was_proposed_before_a_limit_was_met_lands(project: Project) -> None:
    project.write(".agent/config.yaml", "limits:\n  calls: 1\n")
    project.commit("few calls")
    record(project, LOOKED[1:])
    result = plan(project)
    assert result.ending is Ending.LIMIT
    assert [item.title for item in result.items] == ["Zero", "Add adds"]
    assert "limits.calls" in result.note.text


def test_a_hook_that_refuses_leaves_the_paid_plan_in_the_tree(project: Project) -> None:
    record(project, LOOKED)
    project.write(".git/hooks/pre-commit", "#!/bin/sh\necho not today >&2\nexit 1\n").chmod(0o755)
    head = project.head()
    with pytest.raises(AgentctlError, match=r"not today.*left in \.agent/") as caught:
        plan(project)
    assert "git add" in caught.value.hint
    assert project.head() == head
    assert len(list((project.root / ".agent/todo").iterdir())) == 3


def test_a_goal_given_by_hand_stands_in_for_the_file_and_is_remembered(project: Project) -> None:
    project.git("rm", "-q", ".agent/goal.md")
    project.git("commit", "-q", "-m", "no goal")
    record(project, LOOKED)
    with pytest.raises(AgentctlError, match="no goal"):
        plan(project)
    assert "The goal that was given: Make it right." in plan(project, goal="Make it right.").note.text


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        ([["switch", "-q", "--detach"]], "detached"),
        ([["merge", "-q", "side"]], "a merge is under way"),
        ([["config", "user.name", ""]], "who you are"),
    ],
)
def test_where_nothing_could_be_committed_no_model_is_asked(project: Project, commands: list[list[str]], said: str) -> None:
    record(project, LOOKED)
    project.git("switch", "-q", "-c", "side")
    project.write("calc.py", "one\n")
    project.commit("side")
    project.git("switch", "-q", "main")
    project.write("calc.py", "two\n")
    project.commit("main")
    for command in commands:
        project.git(*command, check=False)
    with pytest.raises(AgentctlError, match=said):
        plan(project)
    assert Ledger(discover(project.root).shared).read() == ([], 0)
