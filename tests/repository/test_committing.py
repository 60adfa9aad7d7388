"""Who sees a commit: each program that would see a person's own; where there is none, the commit is the one that `git commit` makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.repository.committing import commit_as_person, way_to_commit
from agent.repository.create import create
from agent.repository.graft import graft
from agent.repository.repo import Repo, discover
from agent.repository.snapshot import own_index
from tests.project import Project, edit, finish, reply

HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction", "post-index-change")
DATED = {"GIT_AUTHOR_DATE": "1767600000 +0000", "GIT_COMMITTER_DATE": "1767600001 +0000"}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    made = create(tmp_path_factory.mktemp("committing"), name="Test User", email="test@example.invalid")
    empty = made.git.run("hash-object", "-t", "tree", "-w", "--stdin", stdin=b"").decode().strip()
    _move(made, made.git.run("commit-tree", empty, stdin=b"start\n").decode().strip())
    return made


def _move(repo: Repo, commit: str) -> None:
    repo.git.run("update-ref", "HEAD", commit)


def _last_logged(repo: Repo) -> str:
    return (repo.git_dir / "logs/HEAD").read_text("utf-8").splitlines()[-1]


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0") | st.sampled_from("\n\n\n \t\r\v\f#a"), min_size=1)


@settings(max_examples=40, deadline=None)
@example(message="\n \na: b  \n\n\n\nc\t\r\n\n\nAgent-Step: x\n\n")
@example(message="# not a comment")
@given(message=texts.filter(lambda text: bool(text.strip())))
def test_any_commit_that_no_program_sees_is_the_one_that_git_commit_makes(repo: Repo, message: str) -> None:
    ground = repo.head()
    assert ground
    blob = repo.git.run("hash-object", "-w", "--stdin", stdin=message.encode()).decode().strip()
    tree = graft(repo, ground, {"file": ("100644", blob)})
    with own_index(repo, tree) as own:
        status, said = commit_as_person(repo, ground, "--cleanup=whitespace", f"--message={message}", env={**own, **DATED})
    assert status == 0, said
    wanted, logged = repo.head(), _last_logged(repo)
    _move(repo, ground)
    assert way_to_commit(repo, ground)(repo, ground, tree, message, DATED)[0]
    assert (repo.head(), _last_logged(repo)) == (wanted, logged)
    _move(repo, ground)


def test_a_commit_is_not_made_where_head_has_moved(repo: Repo) -> None:
    ground = repo.head()
    assert ground
    tree = graft(repo, ground, {"file": ("100644", repo.git.run("hash-object", "-w", "--stdin", stdin=b"x").decode().strip())})
    other = repo.git.run("commit-tree", tree, "-p", ground, stdin=b"other\n").decode().strip()
    _move(repo, other)
    done, said = way_to_commit(repo, ground)(repo, ground, tree, "ours", DATED)
    assert (done, repo.head()) == (False, other)
    assert "expected" in said
    _move(repo, ground)


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("whose", ["the repository's", "the person's"])
def test_each_hook_that_a_commit_of_a_person_starts_is_started(project: Project, own: Path, tmp_path: Path, hook: str, whose: str) -> None:
    folder = project.root / ".git/hooks"
    if whose == "the person's":
        folder = tmp_path / "hooks"
        project.git("config", "--file", str(own), "core.hooksPath", str(folder))
    folder.mkdir(exist_ok=True)
    (folder / hook).write_text(f"#!/bin/sh\necho seen >> '{tmp_path}/seen'\n")
    (folder / hook).chmod(0o755)
    assert project.agentctl("todo", "add", "One more").code == 0
    assert (tmp_path / "seen").exists()


@pytest.mark.parametrize("value", ["true", "1", "yes"])
def test_a_commit_is_signed_where_the_person_signs(project: Project, own: Path, value: str) -> None:
    program = project.root.parent / "signs"
    program.write_text('#!/bin/sh\ncat >/dev/null\necho "[GNUPG:] SIG_CREATED " >&2\necho signed\n')
    program.chmod(0o755)
    project.git("config", "--file", str(own), "gpg.program", str(program))
    project.git("config", "--file", str(own), "commit.gpgSign", value)
    assert project.agentctl("todo", "add", "One more").code == 0
    assert "gpgsig signed" in project.git("cat-file", "commit", "HEAD")


def test_no_program_sees_a_commit_where_none_is_there(project: Project, own: Path) -> None:
    project.git("config", "--file", str(own), "commit.gpgSign", "off")
    assert not discover(project.root).programs.see_commits()


def test_what_somebody_changes_while_a_commit_is_made_stays_theirs(project: Project) -> None:
    """The index follows the commit, not the work tree."""
    project.items("Make add() add")
    project.record({"*": [[reply(edit("calc.py", "a - b", "a + b"), finish())]]})
    project.write(".git/hooks/post-commit", "#!/bin/sh\necho '# mine' >> calc.py\n").chmod(0o755)
    assert project.agentctl("step").code == 0
    assert project.git("diff", "--cached", "--name-only") == ""
    assert project.git("diff", "--name-only") == "calc.py\n"
    assert "# mine" in project.read("calc.py")
