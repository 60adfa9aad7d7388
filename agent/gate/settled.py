"""What a step may change only where a person said so: files that run by themselves elsewhere, and the scripts of its own checks."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from agent.domain.allow import AUTOMATION, CHECK_SCRIPTS
from agent.domain.change import AddedLines, Change
from agent.domain.shellwords import shell_words
from agent.domain.text import one_line
from agent.gate.protocol import Objection

_WIDTH = 120
_AUTOMATION = {
    "runs in CI": re.compile(
        r"\.(?:github|forgejo|gitea)/(?:workflows|actions)/.*|\.gitlab-ci\.ya?ml|\.gitlab/ci/.*|\.(?:circleci|buildkite|semaphore|teamcity|tekton|builds|woodpecker)/.*"
        r"|(?:.*/)?jenkinsfile[^/]*|\.?azure-pipelines[^/]*(?:/.*)?|bitbucket-pipelines\.ya?ml|\.?(?:travis|appveyor|drone|woodpecker|cirrus|build)\.ya?ml"
        r"|cloudbuild\.ya?ml|buildspec\.ya?ml"
    ),
    "says who reviews": re.compile(r"(?:\.(?:github|gitlab|gitea|forgejo)/|docs/)?codeowners"),
    "is a hook of git": re.compile(
        r"(?:.*/)?\.(?:husky|githooks|git-hooks|lefthook)/.*|(?:.*/)?\.pre-commit-(?:config|hooks)\.ya?ml|(?:.*/)?\.?lefthook(?:-local)?\.(?:ya?ml|toml|json)"
        r"|(?:.*/)?\.overcommit\.yml|(?:.*/)?\.?simple-git-hooks\.[^/]*"
    ),
    "runs when somebody opens the folder": re.compile(
        r"(?:.*/)?(?:\.vscode/(?:tasks|settings|launch|mcp)\.json|\.idea/.*|\.envrc|\.devcontainer(?:/.*|\.json)|\.mcp\.json|\.(?:claude|cursor|gemini|codex)/.*)"
    ),
    "steers git": re.compile(r"(?:.*/)?\.(?:gitmodules|lfsconfig|gitconfig)"),
}
_ATTRIBUTES = re.compile(r"(?:.*/)?\.gitattributes", re.IGNORECASE)
_PROGRAM = re.compile(r"(?<![\w-])(?:filter|diff|merge)=")
_RUNNERS = re.compile(
    r"(?:ba|da|z|k)?sh|source|\.|python[\d.]*|node|deno|bun|ruby|perl|php|tsx|ts-node|env|exec|time|nice|timeout|xargs|uv|poetry|run|npx|-f"
)
_BETWEEN = re.compile(r"[();<>|&]+|-.*|\w+=.*|\d+[smh]?")


def settled(changes: Sequence[Change], added: AddedLines, commands: Sequence[str], under: str = "") -> tuple[Objection, ...]:
    """One objection for each changed file of these kinds. `under` is the folder in which `commands`, the checks, run: "" or "apps/web/"."""
    scripts = {posixpath.normpath(under + word) for command in commands for word in _scripts(command)}
    return tuple(objection for change in changes for objection in _of(change, added, scripts))


def _of(change: Change, added: AddedLines, scripts: set[str]) -> Iterator[Objection]:
    path = change.path.casefold()  # a checkout on macOS or Windows takes `.GitHub` for `.github`
    told = one_line(change.path, _WIDTH)
    why = next((why for why, pattern in _AUTOMATION.items() if pattern.fullmatch(path)), "")
    if why:
        yield Objection(f"{told} {why}: a step may not change it.", AUTOMATION)
    elif _ATTRIBUTES.fullmatch(path) and any(_PROGRAM.search(line) for _, line in added.get(change.path, ())):
        yield Objection(f"{told} has git start a program (filter, diff or merge): a step may not add that.", AUTOMATION)
    if change.kind != "added" and change.path in scripts:
        yield Objection(f"{told} is a script that a check runs: a step may not change what it is judged by.", CHECK_SCRIPTS)


def _scripts(command: str) -> list[str]:
    """The words of a shell command that stand where a program does, or after a program that runs a file."""
    found, expected = [], True
    for word in shell_words(command):
        if expected and not _BETWEEN.fullmatch(word):
            found.append(word)
        runner = bool(_RUNNERS.fullmatch(posixpath.basename(word)))
        expected = runner or bool(re.fullmatch(r"[();|&]+", word)) or (expected and bool(_BETWEEN.fullmatch(word)))
    return found
