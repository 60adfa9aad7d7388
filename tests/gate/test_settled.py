from __future__ import annotations

import pytest

from agent.domain.allow import AUTOMATION, CHECK_SCRIPTS
from agent.domain.change import Change, Kind
from agent.gate.settled import settled
from tests.project import Project, call, edit, finish, reply


def _change(path: str, kind: Kind = "modified") -> Change:
    return Change(path, kind, 1, 1, 10)


def _words(path: str, *commands: str, kind: Kind = "modified", line: str = "x", under: str = "") -> list[str]:
    return [one.word for one in settled([_change(path, kind)], {path: [(1, line)]}, commands, under)]


@pytest.mark.parametrize(
    "path",
    [
        ".github/workflows/ci.yml", ".GitHub/Workflows/CI.yml", ".github/actions/x/action.yml", ".gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile",
        "ci/Jenkinsfile.release", "azure-pipelines.yml", ".travis.yml", "bitbucket-pipelines.yml", ".husky/pre-commit", "web/.husky/pre-commit",
        ".githooks/pre-push", ".pre-commit-config.yaml", "lefthook.yml", ".github/CODEOWNERS", ".vscode/tasks.json", ".envrc", ".mcp.json",
        ".claude/settings.json", ".gitmodules", "sub/.lfsconfig",
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["added", "modified", "deleted"])
def test_a_file_that_runs_by_itself_is_refused(path: str, kind: Kind) -> None:
    assert _words(path, kind=kind) == [AUTOMATION]


@pytest.mark.parametrize(
    "path", ["src/workflows/ci.yml", "jenkins.py", "docs/github/workflows.md", ".github/ISSUE_TEMPLATE.md", ".vscode/extensions.json", "hooks/use.ts"]
)
def test_a_file_that_only_looks_like_one_is_not(path: str) -> None:
    assert _words(path) == []


def test_attributes_are_refused_where_they_name_a_program() -> None:
    assert _words("a/.gitattributes", line="*.py filter=evil") == [AUTOMATION]
    assert _words(".gitattributes", line="* text=auto eol=lf") == []


@pytest.mark.parametrize(
    "command",
    ["sh check.sh", "./check.sh -q", "A=1 bash ./check.sh", "cd x && check.sh", "python3 -B check.sh", "timeout 5 sh check.sh", "make; sh check.sh"],
)
def test_a_script_that_a_check_runs_is_refused_and_a_new_one_is_not(command: str) -> None:
    assert _words("check.sh", command) == [CHECK_SCRIPTS]
    assert _words("web/check.sh", command, under="web/") == [CHECK_SCRIPTS]
    assert _words("check.sh", command, kind="added") == []
    assert _words("other.sh", command) == []


@pytest.mark.parametrize("command", ["pytest tests/test_x.py", "cat check.sh", "ruff check calc.py", "python -m pytest calc.py"])
def test_a_file_that_a_check_only_looks_at_is_none_of_its_scripts(command: str) -> None:
    assert [word for path in ("tests/test_x.py", "calc.py", "check.sh") for word in _words(path, command)] == []


def test_an_item_lets_it_through_by_a_word_and_the_note_tells(project: Project) -> None:
    [item] = project.items("Mend the sum in .github/workflows/ci.yml")
    work = reply(edit("calc.py", "a - b", "a + b"), call("write", path=".github/workflows/ci.yml", content="on: push\n"), finish())
    project.record({item: [[work, reply(call("run", command="rm -r .github"), finish("Without it."))]]})
    assert project.agentctl("step").code == 0
    assert project.git("ls-files", ".github") == ""
    project.write(".agent/todo/second.md", "---\nallow: [automation]\n---\n# Second\n")
    project.commit("a person allows it")
    project.record({"second": [[reply(call("write", path=".github/workflows/ci.yml", content="on: push\n"), finish())]]})
    assert project.agentctl("step", "second").code == 0
    assert ".github/workflows/ci.yml runs in CI" in project.agentctl("note").out
