"""Any reply of a model: each of its calls is answered by a text, and nothing but the work tree changes, whatever the arguments."""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.actions.shells import open_shells
from agent.domain.config import SandboxSettings
from agent.domain.events import ToolBegan, ToolEnded
from agent.domain.text import one_line
from agent.model import wire
from agent.repository import search
from agent.repository.repo import discover
from agent.worker.protocol import Ending
from agent.worker.tools import STEP_TOOLS, Desk, Ready, perform
from agent.worker.workspace import Workspace
from tests.fuzz.examples import examples, in_time
from tests.fuzz.inputs import FRAGMENTS, JSON, NUMBERS, ODD, damaged
from tests.project import Project
from tests.worker.talker import Talker, says, session

_FITS = 10_000  # characters, each a token at worst; the window of these sessions is 32,000 tokens
CANARY = "canary-in-the-coal-mine"
Seen = Mapping[str, tuple[int, bytes]]

PATHS = (
    *("calc.py", "src/a.py", "src", ".", "", "./calc.py", "src/../calc.py", "latin.txt", "binary", "empty", "crlf.txt", "bom.txt", "long.txt", "spaces.txt"),
    *("link-out", "link-out/new", "link-to-file", "circle", "dangling", "fifo", "fifo/x", "hard", "sub/x", "weird\nname", "weird \udc80name", "weird \\udc80name"),
    *("..", "../outside/precious", "../outside/new", "../../etc/passwd", "/etc/passwd", "OUTSIDE/precious", "OUTSIDE", "ROOT/calc.py", "~/x", "$HOME/x"),
    *(".git", ".git/config", ".GIT/config", ".git/hooks/pre-commit", ".g\u200cit/config", "git~1/config", ".git /x", ".git::$INDEX_ALLOCATION/x", "sub/.git/x"),
    *(".agent", ".agent/config.yaml", ".AGENT/goal.md", ".agent/todo/x.md", ".gitmodules", ".gitattributes", ".gitignore", "ignored", "ignored/x", "x.log"),
    *("/dev/null", "/dev/zero", "/dev/stdin", "/dev/full", "/dev/tty", "/proc/self/environ", "/proc/self/fd/0", "/proc/self/root/etc/passwd", "/proc/1/mem"),
    *("con", "NUL.txt", "a:b", "a\\b", "a|b", "x.", "x ", " x", "CALC.PY", "-rf", "--help", "*", "?", "[a]", "**/*", ":(exclude)x", ":/", "@output/1"),
    *("@output/0", "@output/" + "9" * 5000, "@output/-1", "@output/٣", "x" * 300, "x/" * 3000, "x" * 100_000, "a//b", "//", "é", "e\u0301", "𝔘", "\u202e"),
)  # fmt: skip
PATTERNS = (
    *("add", ".", "", "^", "$", "(", "[", "*", "a{", "\\", "(?", "(?P<x>a)", "(?<=a+)b", "\\p{Foo}", "\\d+", "(?R)", "(?:" * 300 + ")" * 300, "a{1,65535}" * 3),
    *("(a+)+$", "(a|a)*$", "(a*)*c", "^(a?){22}a{22}c", "(x+x+)+y", "^( +)+$", "(.*)*=.*", "(*NO_JIT)(a+)+$", "(*LIMIT_MATCH=4000000000)(a+)+c", "\\C", "\\K", "a\nb"),
    *("(*UTF)\\x{ffffffff}", "-e", "--help", "--open-files-in-pager=touch x", "-Otouch", "x" * 3000, "\\Q", "(?{print 1})", "(?C1)a", "(*COMMIT)(*ACCEPT)", "\t", "\r"),
)  # fmt: skip
GLOBS = (
    "*.py",
    "*",
    "**",
    "**/*",
    "../*",
    "/etc/*",
    "[",
    "[!]",
    "{a,b}",
    ":(exclude)*",
    "x" * 3000,
    "*" * 60 + "x",
    "src/*.py",
    ".git/*",
    ".agent/**",
    "\\",
    "",
)
COMMANDS = (
    *("true", "false", "exit 3", "echo hi", "cat calc.py", "echo x > new", "echo x > ../outside/new", "rm -rf ../outside", "rm -rf .git .agent", "cat OUTSIDE/precious"),
    *("echo x > .git/config", "git commit -qam x", "ln -s ../outside l; echo x > l/new", "mkfifo f", "mv calc.py $'a\\nb'", "printf '\\x00\\xff\\x1b[2J'"),
    *("yes | head -c 300000", "(", "'", "exec 0<&-", ":>x; chmod 0 x", "mkdir -p d; chmod 0 d", "echo x >> src/a.py; git add -A", "rm calc.py; mkdir calc.py"),
)  # fmt: skip
_texts = st.sampled_from([*FRAGMENTS, "a - b", "a + b", "def add(a, b):\n    return a - b\n", "a" * 500, "b\n" * 300]) | st.text(max_size=30)
_numbers = st.sampled_from([1, 2, 0, -1, 10**9, 10**30, 10**4200, 1.0, 1.5, 1e300, True, "1", None, float("inf"), float("nan")])
_FIT: Mapping[str, st.SearchStrategy[object]] = {
    "path": st.sampled_from(PATHS), "pattern": st.sampled_from(PATTERNS) | st.text(max_size=12), "glob": st.sampled_from(GLOBS),
    "command": st.sampled_from(COMMANDS), "all": st.booleans(), "offset": _numbers, "limit": _numbers, "depth": _numbers, "timeout": st.just(5),
    "check": st.sampled_from(["", "make", "x\ny", "\u202e"]),
}  # fmt: skip


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, str]:
    """A tool, and the JSON text of its arguments: mostly such as fit, some that can't, some torn."""
    name = draw(st.sampled_from(sorted(STEP_TOOLS)))
    named = STEP_TOOLS[name].spec.parameters["properties"]
    args: dict[str, object] = {one: draw(_FIT.get(one, _texts)) for one in named if draw(st.integers(0, 9))}
    if draw(st.integers(0, 3)) == 0 and name != "run":
        args[draw(st.sampled_from([*named, "extra", "", "__class__"]))] = draw(JSON | ODD | st.sampled_from(NUMBERS))
    raw = json.dumps(args, ensure_ascii=draw(st.booleans()))
    if draw(st.integers(0, 5)) == 0 and name != "run":
        torn = draw(damaged(st.just(raw.encode("utf-8", "surrogatepass"))))
        raw = torn.decode("utf-8", draw(st.sampled_from(["replace", "surrogateescape"])))
    return draw(st.sampled_from([name] * 30 + ["", "Read", "read ", "\u202e", "x" * 5000])), raw


@dataclass
class Bench:
    """A repository with a world around it, of which it is known what was there."""

    base: Path
    desk: Desk
    before: Seen

    @property
    def root(self) -> Path:
        return self.base / "repo"

    def reset(self) -> None:
        """Let all be as it was; only what differs is written."""
        for path in sorted(seen(self.base).keys() - self.before.keys(), reverse=True):
            remove(self.base / path)
        for path, (mode, data) in self.before.items():
            if look(self.base / path) != (mode, data):
                restore(self.base / path, mode, data)


def seen(base: Path) -> Seen:
    """All that lies below `base`, folders, links and FIFOs too, by its mode and its content."""
    found = {}
    for folder, names, files in os.walk(base):
        for name in (*names, *files):
            path = Path(folder, name)
            found[str(path.relative_to(base))] = look(path)
    return found


def look(path: Path) -> tuple[int, bytes]:
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0, b""
    if stat.S_ISLNK(mode):
        return mode, os.fsencode(path.readlink())
    return mode, path.read_bytes() if stat.S_ISREG(mode) else b""


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        path.chmod(0o700)
        shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True) if os.path.lexists(path) else None


def restore(path: Path, mode: int, data: bytes) -> None:
    if stat.S_ISDIR(mode):
        remove(path) if not path.is_dir() or path.is_symlink() else None
        path.mkdir(exist_ok=True)
        path.chmod(stat.S_IMODE(mode))
    elif stat.S_ISLNK(mode):
        remove(path)
        path.symlink_to(os.fsdecode(data))
    elif stat.S_ISFIFO(mode):
        remove(path)
        os.mkfifo(path)
    else:
        remove(path)
        path.write_bytes(data)
        path.chmod(stat.S_IMODE(mode))


@pytest.fixture
def bench(project: Project, tmp_path: Path) -> Iterator[Bench]:
    base, root = tmp_path, project.root
    (base / "outside").mkdir()
    (base / "outside/precious").write_text(CANARY)
    hostile = {
        "src/a.py": b"x = 1\n", "latin.txt": b"caf\xe9\n", "binary": b"\0\1", "empty": b"", "crlf.txt": b"a\r\nb\r\n", "bom.txt": b"\xef\xbb\xbfa\n",
        "long.txt": b"a" * 3000 + b"b\n" + b"a" * 26 + b"\n" * 40, "spaces.txt": b" " * 4000 + b"\n", "weird\nname": b"x\n", "weird \udc80name": b"x\n",
        ".gitignore": b"ignored/\n*.log\n", "x.log": b"x\n", "ignored/x": b"x\n", "a" * 26: b"aaa\n" * 100,
    }  # fmt: skip
    for path, data in hostile.items():
        project.write(path, data)
    project.git("init", "-q", "sub")
    (root / "sub/x").write_text("x\n")
    project.git("-C", "sub", "add", "x")
    project.git("-C", "sub", "commit", "-qm", "x")
    project.git("-c", "advice.addEmbeddedRepo=false", "add", ".")
    project.git("commit", "-qm", "hostile")
    for link, target in {"link-out": "../outside", "link-to-file": "calc.py", "circle": "circle", "dangling": "../outside/new"}.items():
        (root / link).symlink_to(target)
    os.link(base / "outside/precious", base / "outside/twin")
    os.mkfifo(root / "fifo")
    repo = discover(root)
    with open_shells(repo, SandboxSettings(kind="auto")) as shells:
        yield Bench(base, Desk(Workspace(repo.work, repo, lambda _path: None), shells.work), seen(base))


def fill(args: str, bench: Bench) -> str:
    return args.replace("OUTSIDE", str(bench.base / "outside")).replace("ROOT", str(bench.root))


@examples(35)
@given(wanted=st.lists(calls(), min_size=1, max_size=3))
def test_each_call_is_answered_in_words_and_reaches_nothing_else(bench: Bench, wanted: list[tuple[str, str]]) -> None:
    """As a reply that came from the model's process, through the session's own loop."""
    bench.reset()
    desk = Desk(bench.desk.workspace, bench.desk.shell)
    reply = wire.reply_from(json.loads(json.dumps(wire.reply_to(says(*((name, fill(args, bench)) for name, args in wanted))))))
    talker = Talker(lambda n: reply if n == 1 else says(("finish", json.dumps({"note": "Done.", "letter": "Next."}))))
    told: list[str] = []
    loop = session(talker, desk, listen=lambda event: told.extend(_words(event)))
    with in_time(10):
        report = loop.work(None)
    too_long = sum(len(args) for _, args in wanted) > _FITS  # more than a model could say at once, or any window hold
    assert report.ending in (Ending.FINISHED, Ending.ASKED) or (too_long and report.limit == "window")
    if len(talker.requests) > 1:
        answers = [message for message in talker.requests[1].messages if message.role == "tool"]
        assert len(answers) == len(wanted)
        for answer in answers:
            assert 0 < len(answer.text) < 60_000
            assert CANARY not in answer.text
            assert "Traceback" not in answer.text
        json.dumps(wire.chat_of(talker.requests[1]), ensure_ascii=False).encode()
    for line in told:
        assert one_line(line, 10_000) == line
    assert _strange(bench) == []


def _words(event: object) -> list[str]:
    if isinstance(event, ToolBegan):
        return [event.brief]
    return [event.result] if isinstance(event, ToolEnded) else []


def _strange(bench: Bench) -> list[str]:
    """What changed, or came to be, where no tool may write."""
    after = seen(bench.base)
    free = ("repo/.git/index", "repo/sub/.git/index")  # git notes sizes and times there
    changed = {path for path in {*bench.before, *after} if bench.before.get(path) != after.get(path) and path not in free}
    return sorted(path for path in changed if not path.startswith("repo/") or path.startswith(("repo/.git/", "repo/.agent/", "repo/sub/.git/")))


def test_a_search_that_tries_every_way_on_every_line_is_ended(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Perl's expressions have a limit for one line, and none for many."""
    monkeypatch.setattr(search, "_LONGEST", 0.5)
    (bench.root / "lines").write_text(("a" * 22 + "\n") * 20_000)
    began = time.monotonic()
    result = perform(Ready(STEP_TOOLS["search"], {"pattern": "(?:a|aa)+[^a]$", "path": "lines"}), bench.desk)
    assert not result.ok
    assert "took longer than 0.5 s" in result.text
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("text", [" ", "\n", "\t \n", "# ", "... ", "# existing code\n\n", "(", "a ", "def f():\n"], ids=repr)
def test_what_is_written_and_quoted_may_be_large(bench: Bench, text: str) -> None:
    content = text * 100_000 + "x\n"
    with in_time(10):
        for tool, args in {
            "write": {"path": "large", "content": content},
            "edit": {"path": "spaces.txt", "old": content, "new": "y"},
            "read": {"path": "large"},
        }.items():
            assert perform(Ready(STEP_TOOLS[tool], args), bench.desk).text
