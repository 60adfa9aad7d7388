"""Every command that reads, in a repository whose files anybody was at: a documented exit status, a sentence and its mend, and nothing on disk is lost or changed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from agent.errors import Exit
from agent.journal import Entry
from tests.fuzz.examples import examples, in_time
from tests.fuzz.inputs import ANY_BYTES, damaged
from tests.fuzz.parsers import CONFIGS
from tests.project import ADDS, Project, Ran, call, finish, reply

READERS = (
    *(("status",), ("status", "--json"), ("todo",), ("todo", "--all", "--json"), ("todo", "show", "second"), ("log",), ("log", "--json"), ("context",)),
    *(("context", "second"), ("doctor",), ("doctor", "--json"), ("cost",), ("cost", "--json"), ("note",), ("note", "first"), ("handoff",), ("trust",)),
    *(("transcript", "first"),),
)  # fmt: skip
FEW = (("status", "--json"), ("context",), ("doctor",))
DOCUMENTED = frozenset(Exit) - {Exit.BUG}
_PASSING = ("index", "agentctl/cache", "agentctl/lock")
"""What a reading command may write in the git directory: git's notes of sizes and times, and what can be worked out again."""

Tree = Mapping[str, bytes]


@dataclass(frozen=True)
class Furnished:
    """A repository with a list, a step that landed, one that failed, a letter, lessons, a ledger, a transcript; `files` may be damaged."""

    project: Project
    spare: Path
    files: tuple[str, ...]

    def anew(self) -> None:
        """All as it was before any damage."""
        shutil.rmtree(self.project.root)
        shutil.copytree(self.spare, self.project.root, symlinks=True)


@pytest.fixture
def furnished(project: Project, tmp_path: Path) -> Furnished:
    project.write(
        ".agent/config.yaml", CONFIGS[0].replace("[pytest -q, 'sh check.sh']", "[sh check.sh]").replace("transcripts: off", "transcripts: local")
    )
    project.commit("Settings")
    project.items("First", "Second", "Third")
    lesson = call("remember", title="Ports are taken", text="Ask for one.")
    project.record({"first": [[reply(ADDS, lesson, call("propose", title="More", text="of it", check="true"), finish())]], "*": [[reply(finish())]]})
    assert project.agentctl("step").code == 0
    project.agentctl("step", "second")
    assert project.agentctl("note", "A letter").code == 0
    entry = Entry("2026-11-29-130355-second", "second", project.head(), ("x",), {"calc.py": None}, branch="main")
    project.write(".git/agentctl/journal.json", json.dumps(to_builtins(entry)))
    hold = {"name": "0" * 16, "at": "2026-11-29T13:03:55Z", "step": "s", "item": "second", "model": "m", "usd": 0.5, "tokens": 9, "start": 0}
    project.write(f".git/agentctl/holds/{'0' * 16}.json", json.dumps(hold))
    project.write(".git/agentctl/heartbeat", '{"pid": 1}')
    project.write(".git/agentctl/undo.json", json.dumps({"head": project.head(), "tree": project.git("rev-parse", "HEAD^{tree}").strip()}))
    spare = tmp_path / "spare"
    shutil.copytree(project.root, spare, symlinks=True)
    found = [str(path.relative_to(project.root)) for top in (".agent", ".git/agentctl") for path in sorted((project.root / top).rglob("*"))]
    return Furnished(project, spare, tuple(path for path in found if (project.root / path).is_file() and not path.endswith("/lock")))


def tree(root: Path) -> Tree:
    """All files and links with what they hold, but what a reading command may write."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            shown = str(path.relative_to(root))
            if not shown.removeprefix(".git/").startswith(_PASSING):
                found[shown] = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
    return found


def assert_fine(ran: Ran, args: tuple[str, ...]) -> None:
    """It ended as documented, and said in two lines what is wrong, if anything."""
    assert ran.code in DOCUMENTED, f"{args}: {ran}"
    assert "Traceback" not in ran.err + ran.out, f"{args}: {ran}"
    if ran.code == Exit.ERROR and ran.err:
        first, *rest = ran.err.rstrip("\n").split("\n")
        assert first.startswith("agentctl: "), f"{args}: {ran}"
        assert len(first) < 2_000, f"{args}: {len(first)}"
        assert len(rest) >= 1, f"{args}: {ran}"
    if "--json" in args and ran.code == 0:
        json.loads(ran.out, parse_constant=lambda word: pytest.fail(f"{args}: {word} is no JSON"))


def _as_a_folder(file: Path, _data: bytes) -> None:
    file.unlink()
    file.mkdir()


def _as_a_link(file: Path, _data: bytes) -> None:
    file.unlink()
    file.symlink_to("nowhere")


def _as_nothing(file: Path, _data: bytes) -> None:
    file.unlink()


_KINDS: tuple[Callable[[Path, bytes], object], ...] = (*[Path.write_bytes] * 6, _as_a_folder, _as_a_link, _as_nothing)


@examples(7, share=0.1)
@given(choices=st.data())
def test_whatever_stands_in_the_files_of_agentctl(furnished: Furnished, choices: st.DataObject) -> None:
    project = furnished.project
    furnished.anew()  # an example that was broken off leaves its files
    for path in choices.draw(st.lists(st.sampled_from(furnished.files), min_size=1, max_size=3, unique=True)):
        file = project.root / path
        data = choices.draw(damaged(st.just(file.read_bytes())) | damaged(st.just(file.read_bytes())) | ANY_BYTES)
        choices.draw(st.sampled_from(_KINDS))(file, data)
    if choices.draw(st.booleans()):
        project.git("add", "-f", "-A", "--", ".agent", check=False)
        project.git("commit", "-qm", "As somebody left it", check=False)
    before = tree(project.root)
    for args in choices.draw(st.lists(st.sampled_from(READERS), min_size=3, max_size=3, unique=True)):
        with in_time(20):
            assert_fine(project.agentctl(*args), args)
        after = tree(project.root)
        assert sorted(path for path in {*before, *after} if before.get(path) != after.get(path)) == [], args


_STRANGE = (
    b"committer x <x@y> 99999999999999999 +0000",
    b"committer x <x@y> -5 +0000",
    b"committer x <x@y> +0000",
    b"committer",
    b"committer \xff\xfe <> 1 +9999",
    b"committer x <x@y> 253402300800 -1200",
)


@pytest.mark.parametrize("line", _STRANGE, ids=lambda line: line.decode("latin-1"))
def test_a_commit_whose_date_or_author_is_broken_or_of_no_year_that_is(project: Project, line: bytes) -> None:
    project.items("First")
    step = (
        "Agent-Step: 2026-11-29-130355-first\nAgent-Outcome: done\nAgent-Tokens: 1 in, 99999999999999999999 cached, 3 out\nAgent-Cost: "
        + "9" * 400
        + ".1 USD\n"
    )
    body = f"tree {project.git('rev-parse', 'HEAD^{tree}').strip()}\nparent {project.head()}\n".encode()
    data = body + line.replace(b"committer", b"author", 1) + b"\n" + line + b"\n\nBy somebody\n\n" + step.encode()
    file = project.root.parent / "commit"
    file.write_bytes(data)
    made = project.git("hash-object", "-t", "commit", "-w", "--literally", str(file)).strip()
    project.git("update-ref", "refs/heads/main", made)
    for args in FEW:
        assert_fine(project.agentctl(*args), args)


@pytest.mark.parametrize(
    "name",
    [
        "notes/9999-12-31/235959-x.done.md",
        "notes/0001-01-01/000000-x.letter.md",
        "notes/2026-02-30/250000-x.done.md",
        "todo/a\nb.md",
        "todo/x\udc80.md",
    ],
)
def test_a_file_of_any_name(project: Project, name: str) -> None:
    """A note of the last day of all, above all: later steps have to come after it."""
    project.items("First")
    project.record({"*": [[reply(ADDS, finish())]]})
    project.write(f".agent/{name}", "# Later\n\n## Handoff\n\nGo on.\n")
    project.commit("By somebody else")
    for args in (*FEW, ("step",)):
        assert_fine(project.agentctl(*args), args)
