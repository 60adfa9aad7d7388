"""What commands print is the same with all caches, with none, and with damaged ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.cache import keep, kept
from agent.domain.usage import Usage
from agent.ledger import Call, Ledger, calls
from agent.model import tokens
from agent.model.tokens import count, remembered
from agent.repository import facts
from agent.repository.folder import read_folder
from agent.repository.repo import discover
from tests.project import Project

_COMMANDS = (["status"], ["todo"], ["todo", "--all"], ["log", "--all"], ["context"], ["cost"])
_SPEND = Usage(0.25, 1000, 500, 50, 2.0)


@pytest.fixture(autouse=True)
def keeps_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "_WORTH_KEEPING", 0)
    monkeypatch.setattr(calls, "_WORTH_KEEPING", 0)


@pytest.fixture
def worked(project: Project) -> Project:
    """A project with notes of three days, an undone step, a letter, and a brief that has to be cut."""
    project.write(".agent/config.yaml", "checks: []\nbrief_tokens: 1500\n")
    project.write(".agent/todo/a.md", "# A\n")
    project.write(".agent/todo/b.md", "---\nafter: [a]\n---\n# B\n")
    project.commit("plan")
    for day in (27, 28, 29):
        project.write(f".agent/notes/2026-11-{day}/100000-a.failed.md", f"# A\n\nAttempt of day {day}. {'It was long. ' * 200}\n")
        project.commit(
            f"a: try\n\nAgent-Step: 2026-11-{day}-100000-a\nAgent-Outcome: failed\nAgent-Model: m\nAgent-Tokens: {day} in, 0 cached, 1 out"
        )
    project.git("revert", "--no-edit", "HEAD~1")
    project.write(".agent/notes/2026-11-29/110000-hi.letter.md", "# A letter\n\n## Handoff\n\nMind the gap.\n")
    project.commit("letter")
    project.write("people.txt", "changed\n")
    project.commit("by hand")
    Ledger(discover(project.root).shared).add(Call("2026-11-27T10:00:00Z", "2026-11-27-100000-a", "a", "m", _SPEND))
    return project


def _answers(project: Project) -> list[tuple[int, str]]:
    runs = [project.agentctl(*words, *more) for words in _COMMANDS for more in ([], ["--json"])]
    return [(run.code, run.out) for run in runs]


def _caches(project: Project) -> list[Path]:
    return sorted((project.root / ".git" / "agentctl" / "cache").glob("*.json"))


def test_every_answer_is_the_same_with_without_and_with_damaged_caches(worked: Project) -> None:
    plain = _answers(worked)
    assert {code for code, _ in plain} == {0}
    files = _caches(worked)
    assert [file.name.partition("-")[0] for file in files] == ["history", "ledger", "notes", "tokens"]
    assert _answers(worked) == plain
    for file in files:
        whole = file.read_bytes()
        for damaged in (b"", whole[: len(whole) // 2], whole.replace(b"a", b"b"), b"[]", whole[::-1]):
            file.write_bytes(damaged)
            assert _answers(worked) == plain, file.name
        file.unlink()
        assert _answers(worked) == plain, file.name


def test_caches_of_an_older_commit_and_of_another_branch_change_no_answer(worked: Project) -> None:
    seen: dict[str, list[tuple[int, str]]] = {}
    for commit in ("HEAD~4", "HEAD", "HEAD~2", "HEAD~1", "HEAD"):
        worked.git("checkout", "-q", "-B", "elsewhere", f"main{commit.removeprefix('HEAD')}")
        now = _answers(worked)
        for file in _caches(worked):
            file.unlink()
        assert _answers(worked) == now
        seen.setdefault(commit, now)
        assert seen[commit] == now
        worked.git("checkout", "-q", "-B", "elsewhere", "main")
        _answers(worked)


def test_notes_are_those_of_the_tree_whichever_days_are_kept(worked: Project) -> None:
    repo = discover(worked.root)
    for revision in ("HEAD", "HEAD~4", "HEAD"):
        head = worked.git("rev-parse", revision).strip()
        listed = {entry.path for entry in repo.tree(head) if entry.path.startswith(".agent/notes/")}
        for _ in range(2):
            assert {f".agent/{name.path}" for name in read_folder(repo, head).notes} == listed


_json = st.recursive(st.none() | st.integers() | st.text() | st.booleans(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(_json, st.data())
def test_what_is_kept_comes_back_and_any_other_bytes_count_as_nothing(
    tmp_path_factory: pytest.TempPathFactory, value: object, data: st.DataObject
) -> None:
    file = tmp_path_factory.mktemp("cache") / "some.json"
    assert kept(file) is None
    keep(file, value)
    assert kept(file) == value
    whole = bytearray(file.read_bytes())
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] ^= data.draw(st.integers(1, 255))
    file.write_bytes(whole)
    assert kept(file) is None


def test_counts_are_remembered_by_the_text_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "tokens.json"
    texts = ["some words", "", "other words, and more of them", "wörter"]
    with remembered(file) as first:
        numbers = [first(text) for text in texts]
    assert numbers == [count(text) for text in texts]
    monkeypatch.setattr(tokens, "_encoder", lambda: pytest.fail("these texts were counted before"))
    with remembered(file) as again:
        assert [again(text) for text in texts] == numbers
