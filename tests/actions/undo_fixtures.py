"""A real repository with `.agent/` in it, and steps in it as agentctl commits them."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.actions.scene import Scene, open_scene
from agent.actions.undo import Undone, undo
from agent.domain.message import step_message
from agent.domain.names import NoteName, Outcome, StepId, next_step_id
from agent.domain.note import Note, render_note
from agent.domain.todo import Item, render_item
from agent.domain.usage import Usage
from agent.repository.repo import Repo, discover
from agent.templates import template
from tests.project import CHECK

_WRONG = "def add(a, b):\n    return a - b\n"
RIGHT = "def add(a, b):\n    return a + b\n"
_BEGAN = datetime(2026, 11, 29, 13, 0, 0, tzinfo=UTC)


@dataclass
class Work:
    """A work tree and its clock, which goes on by a minute with each commit."""

    top: Path
    patch: pytest.MonkeyPatch
    minutes: int = 0
    steps: list[NoteName] = field(default_factory=list)

    @property
    def repo(self) -> Repo:
        return discover(self.top)

    def git(self, *args: str) -> str:
        return subprocess.run(["git", *args], cwd=self.top, check=True, capture_output=True, text=True).stdout

    def tick(self) -> datetime:
        self.minutes += 1
        now = _BEGAN + timedelta(minutes=self.minutes)
        for role in ("AUTHOR", "COMMITTER"):
            self.patch.setenv(f"GIT_{role}_DATE", f"@{int(now.timestamp())} +0000")
        return now

    def write(self, files: Mapping[str, str | None]) -> None:
        for path, text in files.items():
            file = self.top / path
            if text is None:
                self.git("--literal-pathspecs", "rm", "--quiet", "--", path)  # its empty folder goes too
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8", newline="")

    def commit(self, files: Mapping[str, str | None], message: str) -> str:
        """Commit just `files`, as a person does."""
        self.tick()
        self.write(files)
        self.git("add", "--all", "--", *(path for path, text in files.items() if text is not None))
        self.git("commit", "--quiet", "--message", message, "--", *files)
        return self.head

    def step(self, item: str, files: Mapping[str, str | None], said: str = "", outcome: Outcome = Outcome.DONE) -> StepId:
        """One commit with its note and trailers, as a step that landed leaves it."""
        now = self.tick()
        step = next_step_id(item, now, self.steps[-1].step if self.steps else None)
        note = Note.of(
            f"Title of {item}", said or f"Made {item} work, at minute {self.minutes}, by changing {', '.join(files)}.", "Go on.", Usage(0.1, 10, 0, 5)
        )
        name = NoteName(step, outcome)
        self.commit({**files, f".agent/{name.path}": render_note(note, step)}, step_message(step, note, outcome))
        self.steps.append(name)
        return step

    def undo(self, *words: str, because: str = "it broke the build") -> Undone:
        self.tick()
        return undo(self.repo, words, because)

    @property
    def head(self) -> str:
        return self.git("rev-parse", "HEAD").strip()

    @property
    def scene(self) -> Scene:
        return open_scene(self.repo)

    def read(self, path: str) -> str:
        return (self.top / path).read_text("utf-8")

    def everything(self) -> dict[str, bytes | str]:
        """All that an action may not touch unasked: files with their bytes and links, index, refs, what is under way."""
        files: dict[str, bytes | str] = {
            str(path.relative_to(self.top)): path.read_bytes() for path in self.top.rglob("*") if path.is_file() and ".git" not in path.parts
        }
        under_way = sorted(path.name for path in (self.top / ".git").glob("*_HEAD"))
        told = (self.git("status", "--porcelain=v2"), self.git("ls-files", "--stage"), self.git("for-each-ref"), self.git("stash", "list"))
        return files | {" told": "\n".join([self.head, *told, *under_way])}


def new_work(tmp_path: Path, patch: pytest.MonkeyPatch) -> Work:
    """A repository with wrong code, a check and two items."""
    top = tmp_path / "repo"
    top.mkdir()
    work = Work(top, patch)
    work.git("init", "--quiet")
    files = {
        "calc.py": _WRONG,
        ".agent/config.yaml": "model: anthropic/claude-sonnet-4-5\nchecks: [sh check.sh]\n",
        "check.sh": f"{CHECK}\n",
        ".agent/goal.md": "Make the calculator calculate.\n",
        ".agent/.gitattributes": template("gitattributes"),
        ".agent/todo/add-works.md": render_item(Item("add-works", "Make add() add")),
        ".agent/todo/add-sub.md": render_item(Item("add-sub", "Add sub()")),
    }
    work.commit(files, "seed")
    return work
