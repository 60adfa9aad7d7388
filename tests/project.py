"""A real repository for a test, and agentctl run in it: within this process (quick) or as one of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from agent.cli.main import run
from tests.starter import starter

SOURCE = Path(__file__).parent.parent
_PATIENCE = 120.0  # seconds


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Project:
    """A work tree. `recording` is where its recorded replies are, outside of it."""

    root: Path
    recording: Path

    def git(self, *args: str, check: bool = True, env: Mapping[str, str] | None = None) -> str:
        done = subprocess.run(["git", *args], cwd=self.root, check=False, capture_output=True, env={**os.environ, **(env or {})})
        if check and done.returncode != 0:
            raise AssertionError(f"git {args}: {done.stderr.decode(errors='replace')}")
        return done.stdout.decode(errors="surrogateescape")

    def write(self, path: str, text: str | bytes) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)
        return target

    def read(self, path: str) -> str:
        return (self.root / path).read_text("utf-8")

    def commit(self, message: str, *paths: str) -> str:
        self.git("add", "--", *(paths or (".",)))
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.head()

    def head(self) -> str:
        return self.git("rev-parse", "HEAD").strip()

    def status(self) -> str:
        return self.git("status", "--porcelain")

    def items(self, *titles: str) -> list[str]:
        """Add items by the command line; gives their ids in order."""
        for title in titles:
            assert self.agentctl("todo", "add", title).code == 0
        return [row["id"] for row in self.agentctl("todo", "--json").json]

    def record(self, items: Mapping[str, Sequence[Sequence[Mapping[str, Any]]]], **more: Any) -> None:
        """Record replies: for each item its attempts, each a list of replies (see `reply`)."""
        written = {"items": {item: [{"replies": list(replies)} for replies in attempts] for item, attempts in items.items()}, **more}
        self.recording.write_text(yaml.safe_dump(written, sort_keys=False), "utf-8")

    def agentctl(self, *args: str, cwd: str = "") -> Ran:
        """Run agentctl in this process."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _inside(self.root / cwd):
            code = run(list(args))
        return Ran(code, out.getvalue(), err.getvalue())

    def process(self, *args: str, cwd: str = "", env: Mapping[str, str] | None = None, stdin: str = "") -> Ran:
        """Run agentctl as a process of its own, which a warm interpreter forks (see `starter`)."""
        return Ran(*starter().start(args, self.root / cwd, environment(**(env or {})), stdin.encode()).ended(_PATIENCE))

    def interpreter(self, *args: str, env: Mapping[str, str]) -> Ran:
        """Run agentctl in a Python of its own, for what `env` has it do before anything is imported."""
        done = subprocess.run(
            [sys.executable, "-m", "agent", *args],
            cwd=self.root,
            env=environment(**env),
            capture_output=True,
            check=False,
            timeout=_PATIENCE,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def environment(**more: str) -> dict[str, str]:
    """The test's own, for a process; without what differs from test to test, or none could use another's warm model process."""
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"} | {"PYTHONPATH": str(SOURCE)} | more


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = os.open(".", os.O_RDONLY)
    os.chdir(folder)
    try:
        yield
    finally:
        os.fchdir(before)
        os.close(before)


def call(tool: str, **args: Any) -> dict[str, Any]:
    """A recorded tool call."""
    return {"tool": tool, "args": args}


def reply(*calls: Mapping[str, Any], text: str = "", usage: tuple[int, int, int] = (1000, 0, 50), usd: float | None = 0.01) -> dict[str, Any]:
    """A recorded reply; `usd` None: at the recording's own price."""
    told = {"input": usage[0], "cached": usage[1], "output": usage[2], **({} if usd is None else {"usd": usd})}
    return {"text": text, "calls": list(calls), "usage": told}


def finish(note: str = "Done as asked.", letter: str = "Go on with the next item.") -> dict[str, Any]:
    """A recorded `finish`."""
    return call("finish", note=note, letter=letter)


def edit(path: str, old: str, new: str) -> dict[str, Any]:
    """A recorded `edit`."""
    return call("edit", path=path, old=old, new=new)


ADDS = edit("calc.py", "a - b", "a + b")
"""The edit that makes the prepared repository's check pass."""

CHECK = 'grep -q "a + b" calc.py'
"""That check: hundreds of steps run it several times each, so it starts nothing that takes long."""
