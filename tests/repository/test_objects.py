"""The two processes that answer for git's object store: each question gets its own answer, whatever happens between them."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from agent.repository.git import GitError
from agent.repository.objects import Objects, entries
from agent.repository.repo import Repo, discover
from tests.project import Project


@pytest.fixture
def repo(project: Project) -> Repo:
    return discover(project.root)


def _pids(objects: Objects) -> list[int]:
    return [talk._process.proc.pid for talk in objects._running.values() if talk._process.proc]


def test_thousands_of_names_are_answered_in_their_order(repo: Repo, project: Project) -> None:
    for number in range(300):
        project.write(f"many/{number}.txt", f"{number}\n" * 100)
    project.commit("many")
    names = [f"HEAD:many/{number}.txt" for number in range(600)] * 5
    found = repo.blobs(names)
    assert found == ([f"{number}\n".encode() * 100 for number in range(300)] + [None] * 300) * 5
    assert repo.there(names) == ([True] * 300 + [False] * 300) * 5


def test_a_name_with_a_newline_is_one_question(repo: Repo, project: Project) -> None:
    project.write("a\nHEAD:calc.py", "odd\n")
    project.commit("odd")
    assert repo.blobs(["HEAD:a\nHEAD:calc.py", "HEAD:nothing\nHEAD:calc.py", "HEAD:calc.py"]) == [b"odd\n", None, project.read("calc.py").encode()]


def test_what_is_written_later_is_found_by_a_process_that_was_there_before(repo: Repo, project: Project) -> None:
    before = repo.head()
    project.write("new.txt", "new\n")
    project.commit("new")
    project.git("gc", "--quiet", "--prune=now")
    assert repo.head() != before
    assert repo.blobs(["HEAD:new.txt"]) == [b"new\n"]


def test_a_process_that_was_ended_is_replaced(repo: Repo) -> None:
    head = repo.head()
    (before,) = _pids(repo.git.objects)
    os.kill(before, signal.SIGINT)
    assert repo.head() == head
    assert _pids(repo.git.objects) != [before]


class _Stop(BaseException):
    """A signal."""


def test_a_signal_between_question_and_answer_leaves_no_answer_to_the_next_question(repo: Repo, project: Project) -> None:
    def stop(*_: object) -> None:
        raise _Stop

    def ask_on() -> None:
        while True:
            repo.blobs(["HEAD:large.bin"])

    project.write("large.bin", "x" * 20_000_000)
    project.commit("large")
    repo.blobs(["HEAD:calc.py"])
    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.005)
        with pytest.raises(_Stop):
            ask_on()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert repo.blobs(["HEAD:calc.py"]) == [project.read("calc.py").encode()]


def test_a_broken_object_is_an_error_and_the_next_question_is_answered(repo: Repo, project: Project) -> None:
    (project.root / "noise.bin").write_bytes(os.urandom(100_000))
    project.commit("noise")
    blob = project.git("rev-parse", "HEAD:noise.bin").strip()
    file = project.root / ".git/objects" / blob[:2] / blob[2:]
    file.chmod(0o644)
    file.write_bytes(file.read_bytes()[:50_000])
    with pytest.raises(GitError):
        repo.blobs([blob])
    assert repo.blobs(["HEAD:nothing"]) == [None]


def test_no_process_stays_when_the_repository_is_no_longer_asked(project: Project) -> None:
    repo = discover(project.root)
    repo.head()
    (pid,) = _pids(repo.git.objects)
    repo.git.objects.close()
    assert not Path(f"/proc/{pid}").exists()


def test_a_commit_is_read_as_git_shows_it(repo: Repo, project: Project) -> None:
    project.git("-c", "i18n.commitEncoding=ISO-8859-1", "commit", "--quiet", "--allow-empty", "-m", "Grüße\n\ntext")
    project.git("commit", "--quiet", "--allow-empty", "-m", "a second one")
    for name in ("HEAD", "HEAD^"):
        found = repo.commit(name)
        shown = project.git("log", "-1", "--format=%H%n%T%n%P%n%ct%n%B", "--encoding=UTF-8", name).split("\n", 4)
        assert [found.id, found.tree, " ".join(found.parents), str(found.time)] == shown[:4]
        assert found.message.strip() == shown[4].strip()


def test_the_entries_of_a_tree_are_those_of_ls_tree(repo: Repo, project: Project) -> None:
    project.write("folder/a b.txt", "1\n")
    project.commit("folder")
    (tree,) = repo.git.objects.contents(["HEAD^{tree}"])
    assert tree
    told = [f"{mode.decode():>06} {identity.hex()}\t{name.decode()}" for mode, name, identity in entries(tree)]
    assert told == project.git("ls-tree", "--format=%(objectmode) %(objectname)%x09%(path)", "HEAD").splitlines()
