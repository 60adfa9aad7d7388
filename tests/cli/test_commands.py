"""The command line as people and scripts use it: output, JSON forms, exit codes, errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project import ADDS, SOURCE, Project, call, edit, finish, reply

ITEM = "make-add-add"


@pytest.fixture
def worked(project: Project) -> Project:
    """One landed step, one open item, one that failed once."""
    project.items("Make add() add", "Fail")
    project.record(
        {
            ITEM: [[reply(ADDS, finish("add() adds now.", "mul() is next."), usage=(1000, 400, 50), usd=0.25)]],
            "fail": [[reply(edit("calc.py", "a + b", "a * b"), finish(), usd=0.5)]],
        }
    )
    assert project.agentctl("step").code == 0
    assert project.agentctl("step").code == 4
    return project


# --- init ------------------------------------------------------------------------------------------------------------


def test_init_writes_commits_and_says_what_it_found(tmp_path: Path) -> None:
    project = Project(tmp_path, tmp_path / "none")
    project.git("init", "--quiet")
    project.write("tests/test_a.py", "def test_a():\n    assert True\n")
    project.write("pyproject.toml", "[tool.pytest.ini_options]\n")
    ran = project.agentctl("init", "--goal", "Be good.", "--model", "openai/x")
    assert ran.code == 0, ran.err
    assert "found check `" in ran.out
    assert sorted(project.git("show", "--name-only", "--format=", "HEAD").split()) == [
        ".agent/.gitattributes",
        ".agent/README.md",
        ".agent/config.yaml",
        ".agent/goal.md",
    ]
    assert project.read(".agent/goal.md") == "Be good.\n"
    assert "model: openai/x\n" in project.read(".agent/config.yaml")
    assert project.status() == "?? pyproject.toml\n?? tests/\n"


def test_a_second_init_changes_nothing(project: Project) -> None:
    before = project.head()
    project.write(".agent/config.yaml", "checks: [my own]\n")
    ran = project.agentctl("init", "--goal", "Another goal.", "--check", "false")
    assert ran.code == 0
    assert "nothing changed" in ran.out
    assert (project.head(), project.read(".agent/config.yaml")) == (before, "checks: [my own]\n")


def test_init_in_a_package_of_a_monorepo_stays_there(tmp_path: Path) -> None:
    project = Project(tmp_path, tmp_path / "none")
    project.git("init", "--quiet")
    project.write("apps/web/package.json", '{"scripts": {"test": "vitest run"}}')
    project.write("apps/web/src/x.js", "")
    assert project.agentctl("init", cwd="apps/web/src").code == 0
    assert (tmp_path / "apps/web/.agent/config.yaml").exists()
    assert "npm" in (tmp_path / "apps/web/.agent/config.yaml").read_text()
    assert project.agentctl("todo", "add", "Port it", cwd="apps/web/src").code == 0
    assert project.git("show", "--name-only", "--format=", "HEAD").strip() == "apps/web/.agent/todo/port-it.md"


def test_no_commit_leaves_the_files_to_the_person(project: Project) -> None:
    before = project.head()
    ran = project.agentctl("todo", "add", "Later", "--no-commit")
    assert "not committed" in ran.out
    assert (project.head(), project.status()) == (before, "?? .agent/todo/\n")
    assert project.agentctl("todo", "--json").json == []


# --- reading ---------------------------------------------------------------------------------------------------------


def test_status_tells_where_it_stands(worked: Project) -> None:
    ran = worked.agentctl("status")
    for said in ("1 of 2 done, 1 open", "fail: Fail", "nothing of it is in the tree", "0.7500 USD"):
        assert said in ran.out


def test_the_json_forms_are_what_docs_json_says(worked: Project) -> None:
    status = worked.agentctl("status", "--json").json
    assert status["items"] == {"open": 1, "done": 1, "blocked": 0, "dropped": 0}
    assert status["next"] == "fail"
    assert status["spent"] == {"usd": 0.75, "input": 2000, "cached": 400, "output": 100}
    assert set(status) == {"items", "next", "letter", "running", "heartbeat", "paused", "spent", "sandbox", "caps", "alerts", "unsettled", "torn"}
    rows = worked.agentctl("todo", "--json").json
    assert [set(row) for row in rows] == [{"id", "title", "state", "order", "after", "checks", "attempts"}] * 2
    assert [(row["id"], row["state"], row["attempts"]) for row in rows] == [(ITEM, "done", 1), ("fail", "open", 1)]
    log = worked.agentctl("log", "--json").json
    assert [(line["item"], line["outcome"], line["usd"], line["undone_by"]) for line in log] == [
        ("fail", "failed", 0.5, None),
        (ITEM, "done", 0.25, None),
    ]
    assert log[1]["commit"] == worked.git("rev-parse", "HEAD~1").strip()
    cost = worked.agentctl("cost", "--json").json
    assert cost["items"] == {
        ITEM: {"usd": 0.25, "input": 1000, "cached": 400, "output": 50},
        "fail": {"usd": 0.5, "input": 1000, "cached": 0, "output": 50},
    }
    assert list(cost["models"].values()) == list(cost["days"].values()) == [cost["total"]]


def test_context_is_text_for_eyes_and_the_same_in_json(worked: Project) -> None:
    text = worked.agentctl("context").out
    data = worked.agentctl("context", "--json").json
    assert data["text"] == text
    assert data["tokens"] == sum(part["tokens"] for part in data["parts"])
    assert [part["name"] for part in data["parts"]] == ["system", "goal", "plan", "attempts", "letter", "item"]


def test_context_at_an_older_commit_is_what_was_read_there(worked: Project) -> None:
    first = worked.git("rev-list", "--max-parents=0", "HEAD").strip()
    assert "is no item" in worked.agentctl("context", "--at", first, "--item", ITEM).err
    at = worked.agentctl("context", "--at", "HEAD~2", "--item", ITEM).out
    worked.git("checkout", "--quiet", "HEAD~2")
    assert worked.agentctl("context", "--item", ITEM).out == at


def test_note_reads_a_step_by_id_item_or_commit(worked: Project) -> None:
    step = worked.agentctl("log", "--json").json[1]["step"]
    texts = {worked.agentctl("note", word).out for word in (step, ITEM, "HEAD~1")}
    assert len(texts) == 1
    assert "add() adds now." in texts.pop()


def test_a_letter_reaches_the_next_brief(worked: Project) -> None:
    ran = worked.agentctl("note", "Mind the tests in tests/slow: they need a port.")
    assert ran.code == 0, ran.err
    assert "they need a port" in worked.agentctl("context").out
    assert "they need a port" in worked.agentctl("handoff").out


def test_a_letter_comes_from_stdin_too(worked: Project) -> None:
    assert worked.process("note", "-", stdin="First line.\nSecond line.\n").code == 0
    assert "First line.\nSecond line." in worked.agentctl("handoff").out


def test_a_dry_run_prints_the_brief_and_calls_nothing(worked: Project) -> None:
    ran = worked.agentctl("step", "--dry-run")
    assert ran.code == 0
    assert ran.out == worked.agentctl("context").out
    assert "tokens of brief" in ran.err
    assert worked.status() == ""


def test_show_tells_all_of_an_item(worked: Project) -> None:
    out = worked.agentctl("todo", "show", ITEM).out
    for said in ("Make add() add", "done", "add() adds now."):
        assert said in out


# --- exit codes and errors -------------------------------------------------------------------------------------------


def test_an_empty_list_and_a_finished_one_are_told_apart(project: Project) -> None:
    project.record({})
    empty = project.agentctl("step")
    assert (empty.code, "the list is empty" in empty.err) == (3, True)
    project.items("Only one")
    assert project.agentctl("todo", "done", "only-one", "--because", "by hand").code == 0
    finished = project.agentctl("step")
    assert (finished.code, "nothing is left to do" in finished.err) == (3, True)


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["nonsense"], 2, "The commands: init"),
        (["step", "--frob"], 2, "--frob"),
        (["step", "no-such-item"], 1, "'no-such-item' is no item"),
        (["context", "--at", "no-such-rev"], 1, "names no commit"),
        (["plan", "--from", "missing.md"], 1, "missing.md can't be read"),
        (["plan", "--each", "*.py"], 2, "--title"),
        (["note", "word"], 1, "too short for a letter"),
        (["-C", "nowhere", "status"], 1, "is no folder"),
        (["todo", "add", "  "], 1, "an item wants a title"),
    ],
)
def test_an_error_is_a_sentence_and_a_mend_and_never_a_traceback(project: Project, args: list[str], code: int, said: str) -> None:
    ran = project.agentctl(*args)
    assert (ran.code, said in ran.err) == (code, True), ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""


def test_outside_a_repository_it_says_so(tmp_path: Path) -> None:
    ran = Project(tmp_path, tmp_path).agentctl("status")
    assert (ran.code, "is not inside a git repository" in ran.err) == (1, True)


def test_a_repository_without_the_folder_says_what_to_type(tmp_path: Path) -> None:
    project = Project(tmp_path, tmp_path)
    project.git("init", "--quiet")
    project.git("commit", "--quiet", "--allow-empty", "-m", "first")
    ran = project.agentctl("status")
    assert (ran.code, "agentctl init" in ran.err) == (1, True)


def test_no_model_anywhere_is_an_error_before_anything_happens(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AGENTCTL_MODEL")
    project.items("Make add() add")
    ran = project.agentctl("step")
    assert (ran.code, "no model is named" in ran.err) == (1, True)
    assert project.status() == ""


def test_stdout_is_data_and_stderr_is_talk(worked: Project) -> None:
    worked.record({"fail": [[reply(call("write", path="x.py", content="x = 1\n"), finish())]]})
    ran = worked.process("step", "--json")
    assert json.loads(ran.out)["outcome"] == "done"
    assert "gate:" in ran.err
    assert "\x1b" not in ran.out + ran.err


def test_a_reader_that_goes_away_is_no_error(worked: Project) -> None:
    command = f"{sys.executable} -m agent context | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=worked.root, env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True, check=False
    )
    assert b"Traceback" not in done.stderr


def test_todo_edit_writes_back_what_changed(worked: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "sed -i 's/Fail/Succeed/'")
    before = worked.head()
    ran = worked.process("todo", "edit")
    assert ran.code == 0, ran.err
    assert worked.git("diff", "--name-only", before, "HEAD").strip() == ".agent/todo/fail.md"
    assert worked.read(".agent/todo/fail.md") == "# Succeed\n"
