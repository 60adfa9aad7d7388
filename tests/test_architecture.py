"""The house's rules (design, "The house"), read from the sources: lazy imports and imports for types count as any other."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent

# A room may import from rooms of a lower rank, and from itself.
RANK = {
    "__main__": 6,
    "cli": 5,
    "render": 4,
    "actions": 3,
    **dict.fromkeys(("worker", "gate", "store", "ledger", "journal", "heartbeat", "lock", "personal", "transcripts"), 2),
    **dict.fromkeys(("repository", "model"), 1),
    "domain": 0,
    **dict.fromkeys(("cache", "approvals", "beneath"), -1),
    **dict.fromkeys(("errors", "boot", "durable", "hidden", "notify", "places", "templates", "__version__", "agent"), -2),
}
SIDEWAYS = {("gate", "worker")}  # checks run in the worker's shell, the one place that starts commands

GIT = "only agent/repository runs git"
NETWORK = "only agent/model reaches the network, and knows litellm and tiktoken"
TELEMETRY = "only agent/render/otel.py sends telemetry, and only where it is asked for"
SOCKETS = "only agent/model reaches the network, agent/notify the service manager, the trial of sandboxes itself, and sandbox/sockets the kernel"
PROCESSES = "only the worker's shell, its launcher and the model start other programs"
BENEATH = "files of the work tree are opened, changed and removed through agent/beneath.py, which no link leads astray"
PURE = "agent/domain is pure: no files, processes, clock or chance"
ONLY_IN = {
    **dict.fromkeys(("git", "gitdb"), (GIT, ("agent/repository/",))),
    **dict.fromkeys(
        ("litellm", "tiktoken", "openai", "httpx", "requests", "aiohttp", "ssl", "http", "urllib.request", "ftplib", "smtplib"),
        (NETWORK, ("agent/model/",)),
    ),
    "opentelemetry": (TELEMETRY, ("agent/render/otel.py",)),
    "socket": (
        SOCKETS,
        ("agent/model/", "agent/notify.py", "agent/worker/sandbox/trial.py", "agent/worker/sandbox/attempts.py", "agent/worker/sandbox/sockets.py"),
    ),
    **dict.fromkeys(
        ("subprocess", "pty"),
        (PROCESSES, ("agent/worker/shell.py", "agent/worker/sandbox/launcher.py", "agent/model/process.py", "agent/model/keeper.py")),
    ),
    **dict.fromkeys(("multiprocessing", "asyncio"), (PROCESSES, ())),
}
NEVER_PURE = ("os", "io", "shutil", "tempfile", "pathlib", "time", "random", "secrets", "subprocess", "sys", "signal", "threading")
PURE_NAMES = ("pathlib.PurePath", "pathlib.PurePosixPath", "pathlib.PureWindowsPath")
TOUCHES = (
    "open",
    "read_text",
    "read_bytes",
    "write_text",
    "write_bytes",
    "unlink",
    "rmdir",
    "mkdir",
    "touch",
    "chmod",
    "rename",
    "replace",
    "symlink_to",
)
STARTERS = ("exec", "spawn", "posix_spawn", "system", "popen", "fork")
CLOCK = ("now", "utcnow", "today")

LONGEST_FILE, LONGEST_FUNCTION = 320, 45  # lines
MAY_BE_LONG = {
    "agent/cli/demo.py:demo": "a script that is read from top to bottom, as it is shown",
}


@dataclass(frozen=True)
class Source:
    """A file of the package; `path` is relative to the repository."""

    path: str
    text: str

    @property
    def room(self) -> str:
        parts = self.path.split("/")
        return parts[1].removesuffix(".py") if len(parts) > 1 and parts[1] != "__init__.py" else "agent"

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)


def sources() -> list[Source]:
    return [Source(file.relative_to(SOURCE).as_posix(), file.read_text("utf-8")) for file in sorted((SOURCE / "agent").rglob("*.py"))]


@dataclass(frozen=True)
class Import:
    line: int
    name: str  # dotted, with the name that is taken out of a module


def imports(source: Source) -> Iterator[Import]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from (Import(node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = "." * node.level + (node.module or "")
            yield from (Import(node.lineno, f"{package}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__", "run_module"):
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant):
                yield Import(node.lineno, str(first.value))


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else _name(node.func)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _is_of(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def upward(source: Source) -> Iterator[str]:
    """Imports that don't run downwards."""
    for one in imports(source):
        if one.name.startswith("."):
            yield f"{source.path}:{one.line}: imports are absolute, so that they can be read"
        if not _is_of(one.name, "agent"):
            continue
        room = one.name.split(".")[1] if "." in one.name else "agent"
        if room not in RANK:
            yield f"{source.path}:{one.line}: {room} is no room of the house: give it a rank in tests/test_architecture.py"
        elif room != source.room and RANK[room] >= RANK[source.room] and (source.room, room) not in SIDEWAYS:
            yield f"{source.path}:{one.line}: imports run downwards only, and {room} isn't below {source.room}"


def out_of_place(source: Source) -> Iterator[str]:
    """What only some files may use, used elsewhere."""
    for one in imports(source):
        for package, (rule, places) in ONLY_IN.items():
            if _is_of(one.name, package) and not source.path.startswith(places or "nowhere"):
                yield f"{source.path}:{one.line}: {rule} ({one.name})"
    if not source.path.startswith(ONLY_IN["subprocess"][1]):
        starting = (node for node in ast.walk(source.tree) if isinstance(node, ast.Attribute) and node.attr.startswith(STARTERS))
        yield from (f"{source.path}:{node.lineno}: {PROCESSES} (os.{node.attr})" for node in starting if _name(node.value) == "os")


def by_name(source: Source) -> Iterator[str]:
    """Files below `repo.top` or `repo.root` that are touched by their names."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TOUCHES:
            place = node.func.value
            if isinstance(place, ast.BinOp) and any(isinstance(one, ast.Attribute) and one.attr in ("top", "root") for one in ast.walk(place)):
                yield f"{source.path}:{node.lineno}: {BENEATH} ({node.func.attr})"


def impure(source: Source) -> Iterator[str]:
    """What the domain may not know."""
    if source.room != "domain":
        return
    for one in imports(source):
        if any(_is_of(one.name, module) for module in NEVER_PURE) and one.name not in PURE_NAMES:
            yield f"{source.path}:{one.line}: {PURE} ({one.name})"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and (
            _called(node) in CLOCK or (isinstance(node.func, ast.Name) and _called(node) in ("open", "print", "input"))
        ):
            yield f"{source.path}:{node.lineno}: {PURE} ({_called(node)}())"


def lengths(source: Source) -> Iterator[tuple[str, str]]:
    """What is too long, by the name that MAY_BE_LONG has for it."""
    lines = source.text.count("\n")
    if lines > LONGEST_FILE:
        yield source.path, f"{source.path}:{lines}: a file has at most {LONGEST_FILE} lines: which noun is missing?"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > LONGEST_FUNCTION:
                name = f"{source.path}:{node.name}"
                yield name, f"{source.path}:{node.lineno}: a function has at most {LONGEST_FUNCTION} lines, {node.name} has {length}"


def too_long(source: Source) -> Iterator[str]:
    """Files and functions that ask which noun is missing."""
    return (message for name, message in lengths(source) if name not in MAY_BE_LONG)


RULES = (upward, out_of_place, by_name, impure, too_long)


@pytest.mark.parametrize("rule", RULES)
def test_the_package_keeps_the_rule(rule: Callable[[Source], Iterator[str]]) -> None:
    assert len(sources()) > 50
    assert "\n".join(line for source in sources() for line in rule(source)) == ""


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("agent/actions/x.py", "def f():\n    from agent.cli.common import here\n"),
        ("agent/repository/x.py", "from agent import store\n"),
        ("agent/domain/x.py", "from agent.durable import write_whole\nimport time\n"),
        ("agent/actions/x.py", "import git\n"),
        ("agent/actions/x.py", "from git import Repo\n"),
        ("agent/worker/x.py", "import importlib\nimportlib.import_module('litellm')\n"),
        ("agent/actions/x.py", "import urllib.request\n"),
        ("agent/actions/x.py", "def f():\n    import subprocess\n"),
        ("agent/gate/checks.py", "from subprocess import run\n"),
        ("agent/cli/x.py", "import os\nos.execvp('sh', ['sh'])\n"),
        ("agent/actions/x.py", "(repo.top / path).unlink()\n"),
        ("agent/store.py", "(self.repo.root / FOLDER / path).write_bytes(b'')\n"),
        ("agent/domain/x.py", "from pathlib import Path\n"),
        ("agent/domain/x.py", "from datetime import datetime\ndatetime.now()\n"),
        ("agent/domain/x.py", "open('x')\n"),
        ("agent/cli/x.py", "\n" * (LONGEST_FILE + 1)),
        ("agent/cli/x.py", "def f():\n" + "    f()\n" * LONGEST_FUNCTION),
        ("agent/cli/x.py", "from .common import here\n"),
    ],
)
def test_a_breach_is_named_with_file_and_line(path: str, text: str) -> None:
    found = [line for rule in RULES for line in rule(Source(path, text))]
    assert found
    assert all(line.startswith(f"{path}:") and line.split(":")[1].isdigit() for line in found)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("agent/domain/x.py", "from pathlib import PurePosixPath\nfrom urllib.parse import quote\nfrom agent.errors import Exit\n"),
        ("agent/gate/x.py", "from agent.worker.shell import run_command\n"),
        ("agent/repository/x.py", "import git\n"),
        ("agent/repository/x.py", "(repo.git_dir / 'HEAD').read_text()\n"),
        ("agent/model/process.py", "import subprocess\n"),
    ],
)
def test_what_is_allowed_is_not_called_a_breach(path: str, text: str) -> None:
    assert [line for rule in RULES for line in rule(Source(path, text))] == []


def test_no_exception_outlives_its_reason() -> None:
    assert set(MAY_BE_LONG) - {name for source in sources() for name, _ in lengths(source)} == set()
    used = {(source.room, one.name.split(".")[1]) for source in sources() for one in imports(source) if one.name.startswith("agent.")}
    assert used >= SIDEWAYS
