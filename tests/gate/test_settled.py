from __future__ import annotations

from collections.abc import Sequence

import pytest

from agent.domain.allow import AUTOMATION, CHECK_SCRIPTS
from agent.domain.change import Change, Kind
from agent.gate.scripts import called
from agent.gate.settled import Settled, settled
from tests.project import Project, call, edit, finish, reply


def _change(path: str, kind: Kind = "modified") -> Change:
    return Change(path, kind, 1, 1, 10)


def _words(path: str, *commands: str, kind: Kind = "modified", line: str = "x", under: str = "") -> list[str]:
    known = Settled(called(commands, under, lambda paths: [None] * len(paths)))
    return [one.word for one in settled([_change(path, kind)], {path: [(1, line)]}, known)]


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


FILES = {
    "check.sh": '. "$(dirname "$0")/tools/lib.sh"\nmake deep\npython3 calc.py\n',
    "tools/lib.sh": "run() { tools/run --all; }\n",
    "tools/run": "#!/usr/bin/env python3\n",
    "tools/other.sh": "true\n",
    "tools/data": "no script\n",
    "Makefile": "test:\n\t@tools/from-make.sh tools/data\n",
    "tools/from-make.sh": "true\n",
    "package.json": '{"bin": {"x": "bin/x.js"}, "scripts": {"test": "bash tools/from-npm.sh && mocha"}}\n',
    "tools/from-npm.sh": "true\n",
    "bin/x.js": "#!/usr/bin/env node\n",
    "calc.py": "x = 1\n",
    ".husky/pre-commit": "tools/hooked.sh\n",
    ".pre-commit-config.yaml": "repos:\n- repo: local\n  hooks:\n  - entry: ./tools/pre.py --fix\n",
    "lefthook.yml": "pre-commit:\n  commands:\n    lint:\n      run: tools/left.sh {staged_files}\n",
    **dict.fromkeys(("tools/hooked.sh", "tools/pre.py", "tools/left.sh", "tools/mine.sh", "githooks/pre-push"), "#!/bin/sh\n"),
}


@pytest.mark.parametrize(
    ("command", "scripts"),
    [
        ("sh check.sh", {"check.sh", "tools/lib.sh", "tools/run"}),
        ("make -j4 test", {"tools/from-make.sh"}),
        ("npm test", {"tools/from-npm.sh"}),
        ("pytest -q", set()),
    ],
)
@pytest.mark.parametrize("under", ["", "apps/web/"])
def test_what_a_script_calls_is_one_of_the_checks_scripts_too(command: str, scripts: set[str], under: str) -> None:
    files = {under + path: text for path, text in FILES.items()}
    assert called([command], under, lambda paths: [files.get(path) for path in paths]) & set(files) == {under + path for path in scripts}


def test_scripts_that_call_each_other_without_end_are_read_once() -> None:
    files = {f"s/{n}.sh": f"s/{(n + 1) % 3}.sh s/{n}.sh\n" for n in range(3)}
    read: list[str] = []

    def reading(paths: Sequence[str]) -> list[str | None]:
        read.extend(path for path in paths if path in files)
        return [files.get(path) for path in paths]

    assert called(["sh s/0.sh"], "", reading) >= set(files)
    assert len(read) < 12


@pytest.mark.parametrize("path", ["tools/hooked.sh", "tools/pre.py", "tools/left.sh", "tools/mine.sh", "githooks/pre-push"])
def test_a_step_that_changes_what_a_hook_of_git_runs_is_refused(project: Project, path: str) -> None:
    for name, text in FILES.items():
        if name not in ("check.sh", "calc.py"):
            project.write(name, text)
    [item] = project.items("Make add() add")
    project.commit("Hooks of all kinds")
    if path == "githooks/pre-push":
        project.git("config", "core.hooksPath", "githooks")
    else:
        hook = project.root / ".git/hooks/post-merge"
        hook.write_text("#!/bin/sh\nexec ./tools/mine.sh\n")
        hook.chmod(0o755)
    project.record(
        {
            item: [
                [reply(edit("calc.py", "a - b", "a + b"), edit(path, "#!/bin/sh", "#!/bin/sh -e"), finish()), reply(edit(path, " -e", ""), finish())]
            ]
        }
    )
    ran = project.agentctl("step")
    assert ran.code == 0, ran.err
    assert path not in project.git("show", "--name-only", "HEAD")
    project.record({item: [[reply(edit(path, "#!/bin/sh", "#!/bin/sh -e"), finish())]]})
    project.agentctl("undo", item, "--because", "once more")
    assert project.agentctl("step").code == 4
    assert f"{path} is a " in project.git("log", "-1", "-p")
