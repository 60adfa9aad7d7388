"""A real repository with the worker's tools on it, called as a model calls them."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from agent.domain.chat import ToolCall
from agent.repository.repo import discover
from agent.worker.tools import STEP_TOOLS, Desk, Result, perform, prepare
from agent.worker.workspace import Workspace
from tests.shells import bare_shell


def git(*args: str, cwd: Path) -> str:
    return subprocess.run(["git", *args], cwd=cwd, check=True, capture_output=True, text=True, errors="surrogateescape").stdout


@dataclass
class Bench:
    root: Path
    desk: Desk
    kept: list[str] = field(default_factory=list)

    @classmethod
    def make(cls, root: Path) -> Bench:
        root.mkdir()
        git("init", "-q", cwd=root)
        (root / ".agent").mkdir()
        (root / ".agent" / "goal.md").write_text("Add and subtract.\n")
        (root / "calc.py").write_text("def add(a, b):\n    return a - b\n")
        git("add", "-A", cwd=root)
        git("commit", "-qm", "seed", cwd=root)
        return cls.at(root)

    @classmethod
    def at(cls, root: Path) -> Bench:
        kept: list[str] = []
        repo = discover(root)
        return cls(root, Desk(Workspace(repo.work.below(repo.prefix), repo, kept.append), bare_shell(root)), kept)

    def commit(self) -> None:
        git("add", "-A", cwd=self.root)
        git("commit", "-qm", "more", cwd=self.root)

    def file(self, path: str, content: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def call(self, tool: str, **args: object) -> Result:
        """What the model gets for this call, its arguments having gone through JSON."""
        ready = prepare(STEP_TOOLS, ToolCall("call-1", tool, json.dumps(args)))
        return ready if isinstance(ready, Result) else perform(ready, self.desk)

    def refused(self, tool: str, *words: str, **args: object) -> str:
        """The text of a refusal that names all `words`."""
        result = self.call(tool, **args)
        assert not result.ok, result.text
        assert not [word for word in words if word not in result.text], result.text
        return result.text

    def edits(self, path: str, old: str, new: str) -> Result:
        result = self.call("edit", path=path, old=old, new=new)
        assert result.ok, result.text
        return result
