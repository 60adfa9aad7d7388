"""What a step may change only where a person said so: files that run by themselves elsewhere, and the scripts of its own checks and hooks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from agent.domain.allow import AUTOMATION, CHECK_SCRIPTS
from agent.domain.change import AddedLines, Change
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
_ATTRIBUTES = r"(?i)(?:.*/)?\.gitattributes"
_PROGRAM = r"(?<![\w-])(?:filter|diff|merge)="


class Settled(Struct, frozen=True):
    """Paths from the top: `scripts` that checks or setup run, those that hooks of git run (`hooked`), and the folder of those hooks, "" outside of the tree."""

    scripts: Collection[str] = ()
    hooked: Collection[str] = ()
    hooks: str = ""


NOTHING_SETTLED = Settled()


def settled(changes: Sequence[Change], added: AddedLines, known: Settled) -> tuple[Objection, ...]:
    """One objection for each changed file of these kinds."""
    return tuple(objection for change in changes for objection in _of(change, added, known))


def _of(change: Change, added: AddedLines, known: Settled) -> Iterator[Objection]:
    path = change.path.casefold()  # a checkout on macOS or Windows takes `.GitHub` for `.github`
    told = one_line(change.path, _WIDTH)
    why = next((why for why, pattern in _AUTOMATION.items() if pattern.fullmatch(path)), "")
    if known.hooks and change.path.startswith(f"{known.hooks}/"):
        why = "is a hook of git"
    if why:
        yield Objection(f"{told} {why}: a step may not change it.", AUTOMATION)
    elif re.fullmatch(_ATTRIBUTES, path) and any(re.search(_PROGRAM, line) for _, line in added.get(change.path, ())):
        yield Objection(f"{told} has git start a program (filter, diff or merge): a step may not add that.", AUTOMATION)
    elif change.kind != "added" and change.path in known.hooked:
        yield Objection(f"{told} is a script that a hook of git runs: a step may not change it.", AUTOMATION)
    if change.kind != "added" and change.path in known.scripts:
        yield Objection(f"{told} is a script that a check or setup runs: a step may not change what it is judged by.", CHECK_SCRIPTS)
