"""Begin: write `.agent/` with what was found and what the person said, and commit it. What exists stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from agent.actions.detect import Found, broken_manifests, detect_checks
from agent.actions.people import Landed, save
from agent.actions.preflight import refuse_no_commit
from agent.domain.frontmatter import dump
from agent.domain.todo import tidy_text
from agent.repository.repo import FOLDER, Repo, discover
from agent.templates import template

_MANIFESTS = (
    "pyproject.toml",
    "setup.py",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "Gemfile",
    "composer.json",
)
_NO_GOAL = "What should be true when all is done? Replace this line: every session reads it.\n"


class Begun(Struct, frozen=True):
    """What `init` did: where, the checks found and the manifests that can't be read (none where checks were given), and what landed (None: all was there)."""

    root: Path
    found: tuple[Found, ...]
    landed: Landed | None
    broken: tuple[str, ...] = ()


def place_for(cwd: Path) -> Repo:
    """The repository around `cwd`, with the folder where `.agent/` is or belongs as its root.

    That is the nearest folder upwards that has one already, else the nearest that is a package of its own, else the top.
    """
    repo = discover(cwd)
    if (repo.root / FOLDER).is_dir():
        return repo
    here = cwd.resolve()
    for folder in (here, *here.parents):
        if folder == repo.top or any((folder / name).is_file() for name in _MANIFESTS):
            return repo if folder == repo.top else discover(cwd, at=folder)
    return repo


def begin(repo: Repo, *, goal: str, checks: Sequence[str], model: str, commit: bool = True) -> Begun:
    """Write what is missing of `.agent/` and commit just that. Raises AgentctlError where git can't commit it."""
    settled = bool(checks) or (repo.root / FOLDER / "config.yaml").exists()
    found = () if settled else detect_checks(repo.root, repo.top)
    broken = () if settled else broken_manifests(repo.root)
    wanted = {
        "README.md": template("agent-readme.md"),
        ".gitattributes": template("gitattributes"),
        "config.yaml": config_text(model, list(checks) or [one.command for one in found]),
        "goal.md": f"{tidy_text(goal)}\n" if goal.strip() else _NO_GOAL,
    }
    if commit:
        refuse_no_commit(repo)
    missing = [(path, text) for path, text in wanted.items() if not (repo.root / FOLDER / path).exists()]
    if not missing:
        return Begun(repo.root, found, None)
    message = f"Begin .agent/: the memory of agentctl\n\nThe goal, the settings and a README for reviewers{_said(checks, found)}.\n"
    return Begun(repo.root, found, save(repo, missing, message, commit=commit), broken)


def config_text(model: str, checks: Sequence[str]) -> str:
    """The settings file with the model and checks put in; every key documented where it stands."""
    listed = "".join(f"\n  - {dump(check)}" for check in checks) or " []"
    text = template("config.yaml").replace("model: {model}", f"model: {dump(model)}" if model else "model:")
    return text.replace("checks: {checks}", f"checks:{listed}")


def _said(checks: Sequence[str], found: Sequence[Found]) -> str:
    if checks:
        return ""
    return ", with the checks that were found: " + ", ".join(one.command for one in found) if found else "; no checks were found"
