"""git runs a great deal for whoever wrote a repository's config, attributes and hooks; started by agentctl it runs none of it untold."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.repository import snapshot
from agent.repository.changes import added_lines, changes_between
from agent.repository.programs import Untrusted
from agent.repository.repo import discover
from agent.repository.revert import without
from agent.repository.trees import tree_of_work
from agent.repository.writing import look_again, put_back, unstage, write_out
from tests.project import ADDS, Project, call, finish, reply

HOOKS = [
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-auto-gc",
    "post-rewrite",
    "post-index-change",
    "fsmonitor-watchman",
    "reference-transaction",
    "sendemail-validate",
]


def _plant(project: Project, folder: Path, ran: Path, *, filters: bool = True) -> None:
    """Have everything that git could start in `folder` say so in `ran`."""
    for place in ("hooks", "moved"):
        for name in HOOKS:
            hook = folder / ".git" / place / name
            hook.parent.mkdir(exist_ok=True)
            hook.write_text(f"#!/bin/sh\necho {place}/{name} >> {ran}\n")
            hook.chmod(0o755)
    here = ("-C", str(folder), "config")
    for key, command in {
        "core.fsmonitor": "fsmonitor; false",
        "core.hooksPath": None,
        "core.pager": "pager; cat",
        "core.sshCommand": "ssh",
        "core.editor": "editor; true",
        "core.askPass": "askpass",
        "credential.helper": None,
        "gpg.program": "gpg",
        "diff.external": "diff",
        "diff.evil.command": "command",
        "diff.evil.textconv": "textconv; cat",
        "merge.evil.driver": "merge; true",
        "interactive.diffFilter": "interactive; cat",
        "trailer.x.command": "trailer",
    }.items():
        value = {"core.hooksPath": str(folder / ".git/moved"), "credential.helper": f"!echo credential >> {ran}"}.get(key)
        project.git(*here, key, value or f"echo {command.replace(';', f' >> {ran};', 1) if command and ';' in command else f'{command} >> {ran}'}")
    for key, value in {"merge.default": "evil", "commit.gpgSign": "true", "log.showSignature": "true", "submodule.recurse": "true"}.items():
        project.git(*here, key, value)
    for name in ("evil", "a=b") if filters else ():
        for key in ("clean", "smudge"):
            project.git(*here, f"filter.{name}.{key}", f"echo {name}-{key} >> {ran}; cat")
        project.git(*here, f"filter.{name}.process", f"echo {name}-process >> {ran}; false")
        project.git(*here, f"filter.{name}.required", "true")
    filtered = "*.py filter=evil\n*.sh filter=a=b\n" if filters else ""
    (folder / ".git/info").mkdir(exist_ok=True)
    (folder / ".git/info/attributes").write_text(f"* diff=evil merge=evil\n{filtered}")


@pytest.fixture
def trap(clone: Project, tmp_path: Path) -> tuple[Project, Path]:
    """A copy of a repository of somebody else, full of traps, with another one inside; and the file that they would write."""
    ran = tmp_path / "ran"
    inner = clone.root / "inner"
    clone.git("init", "-q", str(inner))
    (inner / "x").write_text("x\n")
    clone.git("-C", str(inner), "add", "x")
    clone.git("-C", str(inner), "commit", "-qm", "x")
    clone.git("-c", "advice.addEmbeddedRepo=false", "add", "inner")
    clone.git("commit", "-qm", "a link to it")
    clone.write(".agent/todo/first.md", "# First\n")
    clone.commit("An item", ".agent")
    _plant(clone, clone.root, ran)
    _plant(clone, inner, ran)
    (inner / "x").write_text("changed\n")
    clone.write("calc.py", "def add(a, b):\n    return a -  b\n")
    clone.write("check.sh", clone.read("check.sh") + "\n")
    os.utime(clone.root / ".git/index", (1, 1))
    assert not ran.exists()
    return clone, ran


READERS = (
    ("status",),
    ("todo",),
    ("log",),
    ("context",),
    ("cost",),
    ("doctor",),
    ("doctor", "--fix"),
    ("trust",),
    ("show",),
    ("handoff",),
    ("note",),
)
WRITERS = (
    ("step",),
    ("run",),
    ("plan",),
    ("undo", "HEAD", "--because", ""),
    ("todo", "add", "Mine"),
    ("todo", "done", "first", "--because", ""),
    ("note", "Some words"),
)


@pytest.mark.parametrize("command", [*READERS, *WRITERS], ids=" ".join)
def test_no_command_starts_anything_of_a_copy_that_is_not_trusted(trap: tuple[Project, Path], command: tuple[str, ...]) -> None:
    clone, ran = trap
    done = clone.agentctl(*command)
    assert not ran.exists(), ran.read_text()
    if command in WRITERS:
        assert done.code == 6, done.err


def test_nor_does_any_call_of_git_below_them(trap: tuple[Project, Path]) -> None:
    """Those that write the work tree, stage, merge, search and compare, as a step and an undo make them."""
    clone, ran = trap
    repo = discover(clone.root)
    head = clone.head()
    repo.status(), repo.look(), repo.files(), repo.grep("a", glob="*.py"), repo.ignored(["calc.py"])
    tree = tree_of_work(repo, head, ["new"])
    kept = snapshot.keep(repo, f"{snapshot.WIP}x", tree, [head], "kept")
    added_lines(repo, head, kept), changes_between(repo, head, kept)
    other = snapshot.keep(repo, f"{snapshot.WIP}y", repo.commit("HEAD").tree, [head], "other")
    snapshot.merged(repo, kept, other)
    without(repo, kept, tree)
    write_out(repo, head, ["calc.py", "check.sh"])
    put_back(repo, ["calc.py", "check.sh"], head)
    look_again(repo, ["calc.py"], head)
    unstage(repo, ["calc.py"])
    for name in ("x", "y"):
        snapshot.drop(repo, f"{snapshot.WIP}{name}")
    with pytest.raises(Untrusted):
        repo.git.run_as_person("commit", "--allow-empty", "-m", "x")
    assert not ran.exists(), ran.read_text()


def test_a_conflict_of_two_sides_is_one_whatever_a_merge_driver_says(clone: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With all trusted: the merge is git's own, as it is on a forge."""
    monkeypatch.setenv("AGENTCTL_TRUST", "yes")
    clone.write("text", "".join(f"{number}\n" for number in range(30)))
    base = clone.commit("base")
    sides = {}
    for name, text in {"one": {3: "one"}, "two": {25: "two"}, "three": {3: "three"}}.items():
        clone.write("text", "".join(f"{text.get(number, number)}\n" for number in range(30)))
        sides[name] = clone.commit(name)
        clone.git("reset", "-q", "--hard", base)
    clone.write("text", b"\0binary")
    sides["binary"] = clone.commit("binary")
    _plant(clone, clone.root, tmp_path / "ran", filters=False)
    repo = discover(clone.root)
    merged = snapshot.merged(repo, sides["one"], sides["two"])
    assert merged is not None
    both = clone.git("cat-file", "blob", f"{merged}:text").split("\n")
    assert (both[3], both[25]) == ("one", "two")
    assert snapshot.merged(repo, sides["one"], sides["three"]) is None
    assert snapshot.merged(repo, sides["one"], sides["binary"]) is None
    assert not (tmp_path / "ran").exists()


@pytest.mark.usefixtures("unconfined")
def test_a_trusted_filter_and_hook_run_and_one_that_a_command_adds_during_the_step_does_not(clone: Project, tmp_path: Path) -> None:
    """What is pinned is what git would start, not the word yes: a config that grew since then stops the step before its commit."""
    ran = tmp_path / "ran"
    clone.write(".gitattributes", "*.py filter=kept\n")
    clone.write(".agent/todo/first.md", "# First\n")
    clone.commit("attributes")
    for key in ("clean", "smudge"):
        clone.git("config", f"filter.kept.{key}", f"echo kept >> {ran}; cat")
    hook = clone.write(".git/hooks/pre-commit", f"#!/bin/sh\necho hook >> {ran}\n")
    hook.chmod(0o755)
    clone.agentctl("trust", "--yes")
    grow = call(
        "run",
        command=f"git config include.path '{tmp_path}/later'; printf '[filter \"kept\"]\\n\\tclean = echo grown >> {ran}; cat\\n' > {tmp_path}/later",
    )
    clone.record({"first": [[reply(ADDS, grow, finish())]]})
    stopped = clone.agentctl("step")
    assert stopped.code == 6, stopped
    assert "grown" not in ran.read_text()
    clone.git("config", "--unset", "include.path")
    clone.record({"first": [[reply(finish())]]})
    assert clone.agentctl("step").code == 0
    assert {"kept", "hook"} == set(ran.read_text().split())


def test_the_persons_own_settings_are_theirs(clone: Project, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks and filters of the person's own config are no part of what a repository brings."""
    own = tmp_path / "home"
    (own / "hooks").mkdir(parents=True)
    (own / "hooks/pre-commit").write_text("#!/bin/sh\n")
    (own / "hooks/pre-commit").chmod(0o755)
    (own / ".gitconfig").write_text(
        (home / ".gitconfig").read_text() + '[core]\n\thooksPath = ~/hooks\n[filter "lfs"]\n\tclean = cat\n\tsmudge = cat\n'
    )
    monkeypatch.setenv("HOME", str(own))
    hook = clone.write(".git/hooks/pre-commit", "#!/bin/sh\n")
    hook.chmod(0o755)
    assert [row["kind"] for row in clone.agentctl("trust", "--json").json] == ["check"]
    clone.git("config", "core.hooksPath", ".git/hooks")
    assert {row["kind"] for row in clone.agentctl("trust", "--json").json} == {"check", "core.hookspath", "git hook"}
