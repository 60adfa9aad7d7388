"""The commands of `setup:`: they fetch what the checks need, with the network, once on this machine for what they are made from."""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import convert
from msgspec.structs import replace

from agent.actions.before import forget, told_as
from agent.actions.workbench import Workbench
from agent.cache import keep, kept
from agent.domain.events import Listener, Phase
from agent.domain.shape import Stored
from agent.domain.shellwords import shell_words
from agent.domain.text import first_of, one_line
from agent.errors import AgentctlError
from agent.gate.checks import run_checks
from agent.gate.protect import LOCK_FILES
from agent.gate.protocol import CheckResult
from agent.repository.repo import Repo
from agent.worker.shell import Shell

_MADE_FROM = LOCK_FILES | {
    *("package.json", ".npmrc", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "requirements-dev.txt", "Pipfile", "environment.yml"),
    *("Cargo.toml", "go.mod", "Gemfile", "composer.json", "pom.xml", "build.gradle", "build.gradle.kts", "mix.exs", "mix.lock", "deno.json"),
    *(".python-version", ".nvmrc", ".tool-versions", "mise.toml", "rust-toolchain.toml"),
}
_MOST_PATHS = 1000  # of those that commands name
_TAIL = 800


class _Ran(Stored, frozen=True):
    """Setup ran to its end for `key`, and left what git ignores at `made`, relative to the top."""

    key: str
    made: tuple[str, ...] = ()


def setup_due(repo: Repo, commands: Sequence[str], commit: str) -> bool:
    """Whether the next step at `commit` runs the setup `commands`: they never ran for this work tree, or not since they, or what they are made from, changed.

    That is the usual manifests and lock files of the list's folder and of each folder that a command names, and each file that one names. A
    step also runs them where something that they had made is gone.
    """
    if not commands:
        return False
    ran = _read(repo)
    return ran is None or ran.key != _key(repo, commands, commit) or not all(map(repo.work.look, _bare(ran.made)))


def set_up(repo: Repo, commands: Sequence[str], commit: str, shell: Shell, timeout: float, bench: Workbench, listen: Listener) -> None:
    """Run what is due, each command for at most `timeout` seconds; what checks had said of any tree doesn't count after that.

    Raises AgentctlError for the first command that fails, and where git would show something of what they did.
    """
    if not setup_due(repo, commands, commit):
        return
    listen(Phase("setup", "with the network, before the first check and when its files change"))
    connected = replace(shell, settings=replace(shell.settings, network=True))
    bench.before_tool("setup")
    for command in commands:
        for result in run_checks([command], shell=connected, timeout=timeout, listen=told_as("setup", listen)):
            if not result.ok:
                raise _failed(result)
    left, made = bench.after_setup()
    if left:
        raise AgentctlError(
            f"setup changed what git would commit: {first_of(left, 5, 100)}",
            "let git ignore what setup makes, and use commands that leave tracked files alone (npm ci, say, and not npm install)",
        )
    earlier = _read(repo)
    still = [path for path in (earlier.made if earlier else ()) if all(map(repo.work.look, _bare([path])))]
    forget(repo)
    keep(_record(repo), {"key": _key(repo, commands, commit), "made": sorted({*still, *made})})


def _failed(result: CheckResult) -> AgentctlError:
    output = one_line(result.output.strip()[-_TAIL:], _TAIL)
    return AgentctlError(
        f"setup failed: `{one_line(result.command, 100)}`: {result.summary}" + (f"; its output ends: {output}" if output else ""),
        "try it by hand, or mend `setup:` in .agent/config.yaml and commit",
    )


def _key(repo: Repo, commands: Sequence[str], commit: str) -> str:
    paths = list(dict.fromkeys(_paths(commands)))[:_MOST_PATHS]
    facts = repo.git.objects.facts([f"{commit}:{repo.prefix}{path}" for path in paths])
    found = {path: fact.id for path, fact in zip(paths, facts, strict=True) if fact and fact.kind == "blob"}
    return hashlib.sha256(json.dumps([list(commands), found]).encode("utf-8", "surrogatepass")).hexdigest()


def _paths(commands: Sequence[str]) -> Iterator[str]:
    """What the commands may be made from, relative to `root`: each word as a file, and the usual names in it as a folder."""
    words = (part for command in commands for word in shell_words(command) for part in (word, word.rpartition("=")[2]))
    for word in (".", *words):
        path = posixpath.normpath(word)
        if not path.isprintable() or path.startswith(("/", "..", "-")):
            continue
        yield path
        yield from (posixpath.normpath(f"{path}/{name}") for name in sorted(_MADE_FROM))


def _bare(paths: Sequence[str]) -> list[str]:
    return [path.removesuffix("/") for path in paths]


def _read(repo: Repo) -> _Ran | None:
    try:
        return convert(kept(_record(repo)), _Ran)
    except ValueError:
        return None


def _record(repo: Repo) -> Path:
    return repo.private / "cache" / "setup.json"
