"""What steers git beside commits: a command that changes it, where a sandbox lets it, changes nothing of what is looked at, checked and committed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.escape.conftest import working
from tests.project import ADDS, CHECK, Project, call, finish, reply

ITEM = "make-add-add"


@pytest.fixture
def listed(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A repository whose commands run in Landlock, which doesn't keep them from `.git`."""
    working("landlock")
    monkeypatch.setenv("AGENTCTL_SANDBOX", "landlock")
    project.write("told.txt", "must\n")
    project.write("check.sh", f"{CHECK} && grep -q must told.txt\n")
    project.commit("More")
    project.items("Make add() add")
    return project


def _step(project: Project, command: str) -> tuple[int, str]:
    project.record({ITEM: [[reply(call("run", command=command), ADDS, finish())]]})
    ran = project.agentctl("step")
    return ran.code, ran.out + ran.err


WAYS = {
    "other objects": ("objects/info/alternates", "mkdir -p o && echo $PWD/o > .git/objects/info/alternates"),
    "attributes": ("info/attributes", "mkdir -p .git/info && echo '*.py working-tree-encoding=UTF-16LE' > .git/info/attributes"),
    "excludes": ("info/exclude", "mkdir -p .git/info && echo hidden.py >> .git/info/exclude; echo x > hidden.py"),
    "another work tree": ("git config", "git config core.worktree $PWD/elsewhere"),
    "an extension": ("git config", "git config extensions.nosuch true"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_step_whose_command_changes_how_git_reads_ends_without_a_commit(listed: Project, way: str) -> None:
    what, command = WAYS[way]
    before = listed.head()
    code, told = _step(listed, command)
    assert code == 1
    assert "what steers git here was changed" in told
    assert what in told
    assert listed.head() == before
    assert not (listed.root / ".git/objects/info/alternates").exists()


@pytest.mark.parametrize("name", [".git", "commondir"])
def test_a_work_tree_that_a_command_leads_to_another_repository_is_led_back(
    listed: Project, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTCTL_SANDBOX", "none")  # Landlock keeps a git directory outside of the work tree
    other = tmp_path / "other"
    listed.git("worktree", "add", "--quiet", str(other), "-b", "side")
    work = Project(other, listed.recording)
    place = other / ".git" if name == ".git" else listed.root / ".git/worktrees/other/commondir"
    held = place.read_text()
    code, told = _step(work, f"git init -q evil && echo {'gitdir: ' if name == '.git' else ''}$PWD/evil/.git > {place}")
    assert code == 1
    assert f"what steers git here was changed: {place}" in told
    assert place.read_text() == held
    assert work.read("calc.py") == listed.read("calc.py")


@pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_that_a_command_hides_from_git_is_looked_at_all_the_same(listed: Project, mark: str) -> None:
    code, told = _step(listed, f"git update-index {mark} told.txt check.sh && echo less > told.txt && echo true > check.sh")
    assert code == 4
    assert "check.sh is a script that a check or setup runs" in told
    assert (listed.read("told.txt"), listed.status()) == ("must\n", "")


def test_a_mark_of_the_persons_stays(listed: Project) -> None:
    listed.git("update-index", "--skip-worktree", "told.txt")
    code, told = _step(listed, "git update-index --assume-unchanged calc.py")
    assert code == 0, told
    assert listed.git("ls-files", "-v", "told.txt", "calc.py") == "H calc.py\nS told.txt\n"
    assert "a + b" in listed.git("show", "HEAD:calc.py")


def test_in_bubblewrap_no_such_file_can_be_written(listed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    working("bubblewrap")
    monkeypatch.setenv("AGENTCTL_SANDBOX", "bubblewrap")
    code, told = _step(listed, "; ".join(command for _, command in WAYS.values()) + "; git update-index --skip-worktree told.txt; rm -rf o hidden.py")
    assert code == 0, told
    assert listed.git("ls-files", "-v", "told.txt") == "H told.txt\n"


def test_a_commit_is_what_its_id_says_and_not_what_was_put_in_its_stead(listed: Project) -> None:
    """A replaced object, a graft: git's own reading follows them, agentctl's doesn't."""
    listed.write("fake.yaml", "checks:\n  - touch replaced\n")
    fake = listed.git("hash-object", "-w", "fake.yaml").strip()
    (listed.root / "fake.yaml").unlink()
    listed.git("replace", listed.git("rev-parse", "HEAD:.agent/config.yaml").strip(), fake)
    listed.git("replace", listed.head(), listed.git("commit-tree", "HEAD^{tree}", "-m", "alone").strip())
    (listed.root / ".git/info/grafts").write_text(f"{listed.git('rev-parse', 'HEAD~0').strip()}\n")
    assert "touch replaced" in listed.git("show", "HEAD:.agent/config.yaml")
    assert "touch replaced" not in listed.agentctl("trust").out
    code, told = _step(listed, "true")
    assert code == 0, told
    assert "touch replaced" not in told
    listed.git("replace", "--delete", *listed.git("replace", "--list").split())
    (listed.root / ".git/info/grafts").unlink()
    assert listed.git("log", "--format=%s").splitlines()[1:] == ["Add an item: Make add() add", "More", "seed"]


def test_what_git_packs_keeps_what_grafts_and_replaced_objects_lead_to(listed: Project) -> None:
    shutil.rmtree(listed.root / ".git/info", ignore_errors=True)
    (listed.root / ".git/info").mkdir()
    old = listed.git("commit-tree", "HEAD^{tree}", "-m", "old history").strip()
    root = listed.git("rev-list", "--max-parents=0", "HEAD").strip()
    (listed.root / ".git/info/grafts").write_text(f"{root} {old}\n")
    listed.git("config", "gc.auto", "1")
    listed.git("config", "gc.pruneExpire", "now")
    code, told = _step(listed, "true")
    assert code == 0, told
    assert listed.git("cat-file", "-t", old) == "commit\n"
