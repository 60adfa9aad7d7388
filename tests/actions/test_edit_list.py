"""`todo edit` on real repositories: what lands is one commit with just the lines that were meant."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agent.actions.edit_list import Edited, apply, list_rows
from agent.actions.scene import Scene, open_scene
from agent.domain.listing import read, render
from agent.domain.todo import State
from agent.errors import AgentctlError
from agent.repository.repo import discover
from tests.project import Project

NOW = datetime(2026, 11, 29, 13, 3, 55, tzinfo=UTC)

ODD = """\
---\r
# owner: see CODEOWNERS\r
checks: ["sh check.sh"]   # ours\r
x-estimate: 3h\r
order:   20  # keep me here\r
\r
links: ['https://example.invalid/1']\r
---\r
\r
# naïve – "quoted": #1\r
\r
Text with a deliberately long line that goes well past eighty columns, so that nothing may fold it anywhere at all.\r
"""


@pytest.fixture
def listed(project: Project) -> Project:
    """Four items, one of them written by hand with everything that a save could lose."""
    project.write(".agent/todo/first.md", "---\norder: 10\n---\n# First\n")
    project.write(".agent/todo/odd.md", "\ufeff" + ODD)
    project.write(".agent/todo/third.md", "# Third\n\nMore.\n")
    project.write(".agent/todo/fourth.md", "Fourth")
    project.commit("items")
    return project


def scene_of(project: Project) -> Scene:
    return open_scene(discover(project.root))


def edit(project: Project, *changes: tuple[str, str], because: str = "", commit: bool = True) -> Edited | None:
    """Apply what the list says after each (old, new) was replaced in its text."""
    scene = scene_of(project)
    rows = list_rows(scene)
    text = render(rows)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return apply(scene.repo, scene, read(text, rows), NOW, because, commit=commit)


def states(project: Project) -> dict[str, State]:
    return {row.item.id: row.state for row in list_rows(scene_of(project))}


def order(project: Project) -> list[str]:
    return [item.id for item in scene_of(project).ordered]


def changed(project: Project) -> dict[str, tuple[str, str]]:
    """The last commit's files with their added and deleted lines."""
    out = project.git("show", "--numstat", "--format=", "--no-renames", "HEAD").strip()
    return {path: (added, deleted) for added, deleted, path in (line.split("\t") for line in out.split("\n"))}


def test_nothing_changed_nothing_committed(listed: Project) -> None:
    head = listed.head()
    assert edit(listed) is None
    assert listed.head() == head
    assert listed.status() == ""


def test_a_moved_item_is_one_line_of_one_file(listed: Project) -> None:
    before = (listed.root / ".agent/todo/odd.md").read_bytes()
    edit(listed, ('open    odd    naïve – "quoted": #1\n', ""), ("open    first", 'open odd naïve – "quoted": #1\nopen    first'))
    assert order(listed)[:2] == ["odd", "first"]
    assert changed(listed) == {".agent/todo/odd.md": ("1", "1")}
    assert (listed.root / ".agent/todo/odd.md").read_bytes() == before.replace(b"order:   20  #", b"order:   5  #")
    assert listed.status() == ""


def test_a_new_title_is_one_line_of_one_file_byte_for_byte(listed: Project) -> None:
    title = "don't break it's: \"quotes\" $15,000 \\1 \\g<0> %s {0} {id} $& $HOME"
    edit(listed, ('naïve – "quoted": #1', title))
    assert changed(listed) == {".agent/todo/odd.md": ("1", "1")}
    assert (listed.root / ".agent/todo/odd.md").read_bytes() == ("\ufeff" + ODD).replace('naïve – "quoted": #1', title).encode()
    item = scene_of(listed).memory.item("odd")
    assert item is not None
    assert item.title == title


def test_a_file_without_a_head_gets_one_only_where_it_must(listed: Project) -> None:
    assert order(listed)[2:] == ["fourth", "third"]
    edit(listed, ("open    third  Third\n", ""), ("open    fourth", "open third Third\nopen    fourth"))
    assert order(listed)[2:] == ["third", "fourth"]
    assert listed.read(".agent/todo/third.md") == "---\norder: 30\n---\n# Third\n\nMore.\n"
    assert listed.read(".agent/todo/fourth.md") == "Fourth"


def test_words_leave_notes_with_strictly_later_ids_in_one_commit(listed: Project) -> None:
    head = listed.head()
    done = edit(
        listed,
        ("open    first", "done    first"),
        ("open    odd", "drop    odd"),
        ("open    third", "done    third"),
        because="Did it\nAgent-Step: x",
    )
    assert done is not None
    assert listed.git("rev-list", "--count", f"{head}..HEAD").strip() == "1"
    assert states(listed) == {"first": State.DONE, "odd": State.DROPPED, "third": State.DONE, "fourth": State.OPEN}
    steps = [note.name.step for note in done.notes]
    assert steps == sorted(set(steps))
    assert len({step.at for step in steps}) == 3
    message = listed.git("log", "-1", "--format=%B")
    assert message.startswith("todo: 2 done, 1 dropped\n\nDid it\n\n")
    assert [line for line in message.split("\n") if line.startswith("Agent-Step:")] == [f"Agent-Step: {step}" for step in steps]
    assert all(path.startswith(".agent/notes/") for path in changed(listed))
    assert {str(record.name.step) for record in scene_of(listed).history.records} == {str(step) for step in steps}


def test_a_revert_of_the_edit_opens_the_items_again(listed: Project) -> None:
    edit(listed, ("open    first", "done    first"), ("open    odd", "drop    odd"))
    listed.git("revert", "--no-edit", "HEAD")
    assert set(states(listed).values()) == {State.OPEN}
    edit(listed, ("open    first", "done    first"))
    assert states(listed)["first"] == State.DONE
    edit(listed, ("done    first", "reopen  first"), because="not quite")
    assert states(listed)["first"] == State.OPEN


def test_a_line_taken_out_drops_the_item_with_a_note_and_keeps_its_file(listed: Project) -> None:
    edit(listed, ("open    third  Third\n", ""))
    assert states(listed)["third"] is State.DROPPED
    assert (listed.root / ".agent/todo/third.md").exists()
    assert "its line was taken out" in listed.read(next(iter(changed(listed))))


@pytest.mark.parametrize("because", ["", "One and the same long reason, told at length, for all of them. " * 20])
def test_notes_of_one_edit_are_no_renames_of_each_other(listed: Project, because: str) -> None:
    edit(listed, ("open    first", "done    first"), ("open    odd", "done    odd"), because=because)
    one, two = sorted(changed(listed))
    listed.git("rm", "-q", two)
    listed.git("commit", "-q", "-m", "only the one")
    listed.git("rm", "-q", one)
    listed.git("checkout", "HEAD~1", "--", two)
    found = listed.git("diff", "--cached", "-M50%", "--name-status", "HEAD").split()
    assert sorted(found[::2]) == ["A", "D"]


def test_everything_at_once_is_one_commit(listed: Project) -> None:
    head = listed.head()
    done = edit(
        listed, ("open    first  First\n", ""), ("open    third  Third", 'open third The third: "it"\nadd Between\nopen first First'), ("open    fourth", "done    fourth")
    )  # fmt: skip
    assert done is not None
    assert [item.title for item in done.added] == ["Between"]
    assert listed.git("rev-list", "--count", f"{head}..HEAD").strip() == "1"
    assert listed.status() == ""
    assert [identity for identity in order(listed) if identity != "fourth"] == ["odd", "third", "between", "first"]


def test_work_in_the_tree_stays_out_of_the_commit(listed: Project) -> None:
    listed.write("calc.py", "changed\n")
    listed.write("staged.py", "staged\n")
    listed.git("add", "staged.py")
    listed.write(".agent/todo/third.md", "# Third\n\nNot committed yet.\n")
    edit(listed, ("open    first", "done    first"), ("open    odd    naïve", "open    odd    Naïve"))
    assert set(changed(listed)) == {".agent/todo/odd.md", next(path for path in changed(listed) if "/notes/" in path)}
    assert listed.status() == " M .agent/todo/third.md\n M calc.py\nA  staged.py\n"


def test_a_file_with_changes_of_its_own_is_not_committed_along(listed: Project) -> None:
    listed.write(".agent/todo/third.md", "# Third\n\nNot committed yet.\n")
    head = listed.head()
    with pytest.raises(AgentctlError, match=r"third\.md has changes that aren't committed"):
        edit(listed, ("Third", "The third"), ("open    first", "done    first"))
    assert listed.head() == head
    assert listed.read(".agent/todo/third.md") == "# Third\n\nNot committed yet.\n"
    assert listed.status() == " M .agent/todo/third.md\n"


def test_a_link_in_place_of_a_file_is_not_followed(listed: Project) -> None:
    outside = listed.root.parent / "third.md"
    (listed.root / ".agent/todo/third.md").rename(outside)
    (listed.root / ".agent/todo/third.md").symlink_to(outside)
    with pytest.raises(AgentctlError, match=r"third\.md has changes"):
        edit(listed, ("Third", "The third"))
    assert outside.read_text() == "# Third\n\nMore.\n"


def test_what_landed_meanwhile_stands_and_only_the_same_item_is_refused(listed: Project) -> None:
    scene = scene_of(listed)
    rows = list_rows(scene)
    text = render(rows)
    edit(listed, ("open    first", "done    first"))
    apply(scene.repo, scene, read(text.replace("Third", "The third"), rows), NOW)
    assert states(listed)["first"] is State.DONE
    with pytest.raises(AgentctlError, match="meanwhile the list changed: first"):
        apply(scene.repo, scene, read(text.replace("open    first", "drop    first"), rows), NOW)


def test_a_hook_that_refuses_leaves_everything_as_it_was(listed: Project) -> None:
    hook = listed.write(".git/hooks/pre-commit", "#!/bin/sh\necho not today >&2\nexit 1\n")
    hook.chmod(0o755)
    head = listed.head()
    with pytest.raises(AgentctlError, match="not today"):
        edit(listed, ("open    first", "done    first"), ("Third", "The third"), ("open    odd", "add New\nopen    odd"))
    assert listed.head() == head
    assert listed.status() == ""


def test_a_hook_that_changes_what_was_written_is_named(listed: Project) -> None:
    hook = listed.write(".git/hooks/pre-commit", "#!/bin/sh\necho '# Other' > .agent/todo/third.md && git add .agent/todo/third.md\n")
    hook.chmod(0o755)
    with pytest.raises(AgentctlError, match=r"does not hold \.agent/todo/third\.md as it was written"):
        edit(listed, ("Third", "The third"))


def test_a_new_item_does_not_take_the_name_of_a_file_that_is_not_committed(listed: Project) -> None:
    listed.write(".agent/todo/mine.md", "# Something of mine\n")
    done = edit(listed, ("open    first", "add Mine\nopen    first"))
    assert done is not None
    assert done.added[0].id.startswith("mine-")
    assert listed.read(".agent/todo/mine.md") == "# Something of mine\n"


def test_without_a_commit_the_files_are_written_only(listed: Project) -> None:
    head = listed.head()
    done = edit(listed, ("Third", "The third"), commit=False)
    assert done is not None
    assert done.landed.commit is None
    assert listed.head() == head
    assert listed.status() == " M .agent/todo/third.md\n"
