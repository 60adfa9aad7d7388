"""Inputs of the cases as shell scripts that build a situation, and agentctl run in what they leave behind."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.project import ADDS, Project, Ran, finish, reply

_GITCONFIG = "[user]\n\tname = Test User\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n"

_PRELUDE = r"""
set -eu
seed() {
  mkdir -p .agent/todo
  printf '# Make add() add\n' > .agent/todo/t1.md
  printf '# Add sub()\n' > .agent/todo/t2.md
  printf 'A calculator that is right.\n' > .agent/goal.md
  printf '* text eol=lf\n' > .agent/.gitattributes
  printf 'checks:\n  - sh check.sh\n' > .agent/config.yaml
  printf 'def add(a, b):\n    return a - b\n' > calc.py
  printf 'grep -q "a + b" calc.py\n' > check.sh
}
not() { if "$@"; then echo "expected to fail: $*" >&2; exit 9; fi; }
mkrepo() { git init -q "${1:-repo}"; cd "${1:-repo}"; seed; git add -A; git commit -qm seed; }
"""
_SHELLS_OWN = ("PWD", "OLDPWD", "SHLVL", "_")


@dataclass(frozen=True)
class Played:
    """Where a script ended: the folder it was in, and the environment that it exported."""

    root: Path
    environment: Mapping[str, str]


def play(script: str, folder: Path) -> Played:
    """Run `script` after the prelude in `folder`, which it finds empty, with a home of its own. It must exit 0."""
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    (home / ".gitconfig").write_text(_GITCONFIG)
    folder.mkdir()
    ending = folder.parent / "ending"
    whole = f"{_PRELUDE}\n{script}\n(pwd; env -0) > {ending}\n"
    environment = {**os.environ, "HOME": str(home), "GIT_TERMINAL_PROMPT": "0"}
    done = subprocess.run(["bash", "-c", whole], cwd=folder, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    place, _, variables = ending.read_bytes().decode(errors="surrogateescape").partition("\n")
    pairs = dict(line.split("=", 1) for line in variables.split("\0") if "=" in line)
    return Played(Path(place), {name: value for name, value in pairs.items() if name not in _SHELLS_OWN})


def good(*calls: Mapping[str, Any], note: str = "add() now adds.", letter: str = "Next: sub().") -> dict[str, Any]:
    """A reply that makes add() add, does `calls`, and finishes."""
    return reply(ADDS, *calls, finish(note, letter))


def answers(project: Project, *replies: Mapping[str, Any]) -> None:
    """Record `replies` for whatever item is taken."""
    project.record({"*": [list(replies)]})


def lands(project: Project, *calls: Mapping[str, Any], note: str = "add() now adds.") -> Ran:
    """Take a step whose model makes add() add and does `calls`; it must land as one commit."""
    answers(project, good(*calls, note=note))
    before = project.head()
    ran = project.agentctl("step")
    assert ran.code == 0, ran.err
    assert project.git("rev-list", "--count", f"{before}..HEAD").strip() == "1"
    return ran


def refused(project: Project, ran: Ran, *words: str, code: int = 1) -> None:
    """`ran` was a refusal in plain words that names all `words`, before any model call."""
    assert ran.code == code, (ran.code, ran.err)
    assert not [word for word in words if word not in ran.err], ran.err
    assert "Traceback" not in ran.err
    assert called(project) == 0


def called(project: Project) -> int:
    """How many model calls were made in this repository."""
    return sum(len(ledger.read_text().splitlines()) for ledger in project.root.parent.rglob("agentctl/ledger.jsonl"))


def changed(project: Project, revision: str = "HEAD") -> list[str]:
    """The paths that a commit changed outside of notes."""
    names = project.git("show", "--name-only", "-z", "--no-renames", "--format=", revision).split("\0")
    return [name for name in names if name and ".agent/notes/" not in name]


def only_a_note(project: Project, since: str) -> None:
    """Since the commit `since` nothing landed but notes, and the tree is clean."""
    assert [path for path in project.git("diff", "--name-only", since, "HEAD").split("\n") if path and ".agent/notes/" not in path] == []
    assert project.git("diff", "HEAD", "--stat") == ""
