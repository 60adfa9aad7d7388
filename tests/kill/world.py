"""A repository with a list to be worked off, a person's own things in it, and what must hold of both; knows agentctl only from outside."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import os
import subprocess
import sys
import tarfile
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from tests.starter import Started, starter

SOURCE = Path(__file__).parent.parent.parent
PATIENCE = 600.0  # seconds for a command, on a machine with other work
_IDENTITY = "[user]\n\tname = A Person\n\temail = person@example.invalid\n"
_NOTHING: Mapping[str, str] = MappingProxyType({})
_CONFIG = """\
checks: ["sh check.sh"]
limits: {calls: 1000000, usd: 1000000, attempts: 1000}
"""
_CHECK = """\
for file in *.txt; do [ -f "$file" ] || continue; grep -q wrong "$file" && { echo "FAILED $file"; exit 1; }; done
exit 0
"""
AGAIN = (0, 3, 4, 6)
"""How a command may end that is given again: landed, nothing left, the gate's no, or: what it asks for was done while it picked up the first one."""
ITEMS = ("write-one", "write-two", "edit-both", "run-a-command")


def _finish(text: str) -> dict[str, Any]:
    return {"tool": "finish", "args": {"note": text, "letter": f"After {text}"}}


def _write(path: str, content: str) -> dict[str, Any]:
    return {"tool": "write", "args": {"path": path, "content": content}}


def _reply(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"text": "", "calls": list(calls), "usage": {"input": 1000, "cached": 0, "output": 50, "usd": 0.01}}


def _recording() -> dict[str, Any]:
    """Each session ends in the same files and words wherever it was broken off: a reply that comes twice changes nothing more."""
    lesson = {"tool": "remember", "args": {"title": "One at a time", "text": "Files here are written one at a time."}}
    both = [_write("one.txt", "one\nchanged\n"), _write("two.txt", "two\nchanged\n")]
    command = {"tool": "run", "args": {"command": "mkdir -p made && echo three > made/three.txt && sleep 0.05 && rm -f two.txt"}}
    return {
        "items": {
            "write-one": [{"replies": [_reply(_write("one.txt", "one\n")), _reply(lesson), _reply(_finish("One is written."))]}],
            "write-two": [
                {"replies": [_reply(_write("two.txt", "wrong\n"), _finish("Two is written, wrongly."))] + [_reply(_finish("Still wrong."))] * 3},
                {"replies": [_reply(_write("two.txt", "two\n")), _reply(_finish("Two is written."))]},
            ],
            "edit-both": [{"replies": [_reply(both[0]), _reply(both[1]), _reply(_finish("Both are changed."))]}],
            "run-a-command": [{"replies": [_reply(command), _reply(_finish("made/three.txt is there, and two.txt is gone."))]}],
        }
    }


@dataclass(frozen=True)
class Outcome:
    """What is left when the list is worked off: the files but agentctl's, each item's notes by how they ended and what they say, the lessons."""

    files: dict[str, str]
    notes: Counter[tuple[str, str, str]]
    lessons: Counter[str]


def _told(path: str, text: str) -> tuple[str, str, str]:
    """Item, outcome and the note's first paragraph, which holds nothing that differs from run to run."""
    name = path.rpartition("/")[2].removesuffix(".md")
    item, _, ending = name.partition("-")[2].partition(".")
    return item, ending, text.split("---\n", 2)[2].split("\n\n")[1]


class World:
    """One repository. Its home folder holds nothing but an identity for git, and nobody else has its folder for temporary files."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "repo"
        self.recording = folder / "replies.yaml"
        self._home = folder / "home"
        self._temporary = folder / "tmp"
        self._home.mkdir(parents=True)
        self._temporary.mkdir()
        self.root.mkdir()
        (self._home / ".gitconfig").write_text(f"{_IDENTITY}[gc]\n\tauto = 0\n")
        self.recording.write_text(yaml.safe_dump(_recording(), sort_keys=False))
        self._make()
        self.theirs = self._person()

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {
            **kept,
            "HOME": str(self._home),
            "TMPDIR": str(self._temporary),
            "PYTHONPATH": str(SOURCE),
            "PYTHONDONTWRITEBYTECODE": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "AGENTCTL_TRUST": "yes",
            "GIT_TEST_FSYNC": "0",
            "AGENTCTL_MODEL": f"scripted:{self.recording}",
        }

    def git(self, *args: str) -> str:
        done = subprocess.run(["git", *args], cwd=self.root, env=self.environment, capture_output=True, check=True)
        return done.stdout.decode()

    def command(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "agent", *args]

    def start(self, *args: str, more: Mapping[str, str] = _NOTHING, followed: bool = False) -> Started:
        """agentctl, with `more` in its environment."""
        return starter().start(args, self.root, {**self.environment, **more}, followed=followed)

    def run(self, *args: str, more: Mapping[str, str] = _NOTHING) -> tuple[int, str]:
        """Its exit code and what it said."""
        code, _, said = self.start(*args, more=more).ended(PATIENCE)
        return code, said

    def _write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def _make(self) -> None:
        self.git("init", "--quiet", "--initial-branch=main")
        files = {
            "check.sh": _CHECK,
            "doc.md": "doc\n",
            ".gitignore": "build/\n",
            ".agent/config.yaml": _CONFIG,
            ".agent/goal.md": "Files.\n",
            ".agent/.gitattributes": "* text eol=lf\n",
            ".agent/README.md": "What this folder is.\n",
        }
        for order, item in enumerate(ITEMS, 1):
            files[f".agent/todo/{item}.md"] = f"---\norder: {order}\n---\n# {item.replace('-', ' ').capitalize()}\n\nAs the title says.\n"
        for path, text in files.items():
            self._write(path, text)
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", "seed")

    def _person(self) -> dict[str, str]:
        """Things of a person's that agentctl has no business with."""
        self._write("doc.md", "what was stashed\n")
        self.git("stash", "--quiet")
        self.git("branch", "--quiet", "theirs")
        self._write("mine.txt", "mine\r\n")
        self._write("folder/mine too.bin", "\0\1\2")
        self._write("build/ignored.o", "ignored")
        return self._of_person()

    def _of_person(self) -> dict[str, str]:
        paths = ("mine.txt", "folder/mine too.bin", "build/ignored.o", ".git/config")
        held = {path: hashlib.sha256((self.root / path).read_bytes()).hexdigest() for path in paths}
        return {**held, **{ref: self.git("rev-parse", ref).strip() for ref in ("refs/stash", "refs/heads/theirs")}}

    def crowd(self, loose: int) -> None:
        """Loose objects that nothing names, all in the folder by which git estimates how many there are, and no word on packing in the person's config."""
        (self._home / ".gitconfig").write_text(_IDENTITY)
        wholes = (b"blob %d\0%d" % (len(str(number)), number) for number in itertools.count())
        found = ((hashlib.sha1(whole, usedforsecurity=False).hexdigest(), whole) for whole in wholes)
        for name, whole in itertools.islice((one for one in found if one[0].startswith("17")), loose):
            target = self.root / ".git/objects/17" / name[2:]
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(zlib.compress(whole))

    # --- what must hold ------------------------------------------------------------------------------------------

    def untouched(self) -> list[str]:
        """What of the person's is not as it was; to be asked at any moment."""
        now = self._of_person()
        return [f"{name} changed" for name, held in self.theirs.items() if now[name] != held]

    def unsound(self) -> list[str]:
        """What git finds broken."""
        done = subprocess.run(["git", "fsck", "--full", "--no-dangling"], cwd=self.root, env=self.environment, capture_output=True, check=False)
        return [f"fsck: {done.stderr.decode()}{done.stdout.decode()}"] if done.returncode else []

    def outcome(self) -> Outcome:
        """What the last commit holds."""
        texts = self._texts()
        return Outcome(
            files={path: text for path, text in texts.items() if not path.startswith(".agent/")},
            notes=Counter(_told(path, text) for path, text in texts.items() if path.startswith(".agent/notes/")),
            lessons=Counter(text.split("---\n", 2)[2] for path, text in texts.items() if path.startswith(".agent/lessons/")),
        )

    def _texts(self) -> dict[str, str]:
        done = subprocess.run(["git", "archive", "HEAD"], cwd=self.root, env=self.environment, capture_output=True, check=True)
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as held:
            return {one.name: read.read().decode() for one in held if (read := held.extractfile(one))}

    def money(self) -> list[str]:
        """What notes say of an item and what the ledger holds of it, where they differ; for when the list is worked off."""
        ledger = self.root / ".git/agentctl/ledger.jsonl"
        lines = [json.loads(line) for line in ledger.read_text().splitlines()] if ledger.exists() else []
        paid = Counter({item: sum(round(line["usd"] * 100) for line in lines if line["item"] == item) for item in ITEMS})
        told: Counter[str] = Counter()
        for path, text in self._texts().items():
            if path.startswith(".agent/notes/"):
                told[_told(path, text)[0]] += round(yaml.safe_load(text.split("---\n")[1])["spent"]["usd"] * 100)
        return [f"{item}: {paid[item]} cents in the ledger, {told[item]} in its notes" for item in ITEMS if paid[item] != told[item]]

    def leftovers(self) -> list[str]:
        """What a list that is worked off leaves of steps under way."""
        refs = self.git("for-each-ref", "--format=%(refname)", "refs/agentctl/wip", "refs/agentctl/paused").split()
        private = self.root / ".git/agentctl"
        locks = [str(path) for path in (self.root / ".git").rglob("*.lock") if not path.is_relative_to(private)]
        halves = [str(path) for path in (self.root / ".git/objects").rglob("*tmp*")]
        halves += [str(pack) for pack in (self.root / ".git/objects/pack").glob("*.pack") if not pack.with_suffix(".idx").exists()]
        rest = [str(path) for path in private.glob("*") if path.name.endswith(("-tmp", ".index", "journal.json"))]
        status = self.git("status", "--porcelain", "--untracked-files=all").replace("?? ", "").split("\n")[:-1]
        strange = [line for line in status if line.strip('"') not in ("mine.txt", "folder/mine too.bin")]
        return [*refs, *locks, *halves, *rest, *strange]
