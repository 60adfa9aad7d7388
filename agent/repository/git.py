"""The one runner for all git calls: hardened against the repository's own config, deaf to the caller's environment."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Protocol

import git as gitpython

from agent.domain.text import one_line
from agent.errors import AgentctlError
from agent.repository.locks import Place, clear_left_locks
from agent.repository.objects import Objects

_DURABLE = "core.fsync=committed,index"
# Whatever git would start, show or sign on its own; a command-line setting wins over every config file, in each git that there is.
_HARDENED = (
    _DURABLE,
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.quotePath=false",
    "core.editor=true",
    "core.sshCommand=false",
    "core.askPass=",
    "credential.helper=",
    "commit.gpgSign=false",
    "diff.external=",
    "diff.ignoreSubmodules=all",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "advice.graftFileDeprecated=false",
    # What a commit tells, what two trees differ in and what a merge gives follow from the repository alone, not from a person's taste: git's own defaults.
    *("color.ui=false", "color.branch=false", "color.diff=false", "color.grep=false", "color.status=false", "column.ui=never"),
    *("core.abbrev=40", "i18n.logOutputEncoding=UTF-8", "i18n.commitEncoding=UTF-8", "format.pretty=medium", "notes.displayRef="),
    *("log.abbrevCommit=false", "log.date=default", "log.decorate=false", "log.diffMerges=separate", "log.follow=false", "log.mailmap=false"),
    *("log.showRoot=true", "log.showSignature=false"),
    *("diff.algorithm=default", "diff.colorMoved=no", "diff.context=3", "diff.indentHeuristic=true", "diff.interHunkContext=0"),
    *("diff.mnemonicPrefix=false", "diff.noprefix=false", "diff.orderFile=/dev/null", "diff.relative=false", "diff.renameLimit=1000"),
    *("diff.renames=true", "diff.submodule=short", "diff.suppressBlankEmpty=false", "diff.wsErrorHighlight=new"),
    *("grep.column=false", "grep.fullName=true", "grep.lineNumber=false", "grep.patternType=default"),
    *("merge.conflictStyle=merge", "merge.directoryRenames=conflict", "merge.renameLimit=7000", "merge.renames=true", "merge.renormalize=false"),
    *("status.aheadBehind=true", "status.relativePaths=false", "status.renames=true", "status.showStash=false", "status.submoduleSummary=false"),
)
# What stays when the person's own hooks, editor settings and signing are wanted: at a step's commit, and at an undo. Messages are written in UTF-8.
_OWN = (_DURABLE, "core.fsmonitor=false", "core.pager=cat", "gc.auto=0", "maintenance.auto=false", "i18n.commitEncoding=UTF-8")
# What stays when git puts its own house in order: when, and how, is the person's to say, as it is after a commit of theirs; but it never goes on alone.
_HOUSE = (
    *(one for one in _HARDENED if one.partition("=")[0] not in ("core.hooksPath", "gc.auto", "maintenance.auto")),
    *("gc.autoDetach=false", "maintenance.autoDetach=false"),
)
_PIPE = -1  # as the standard library has it for a stream that the caller writes or reads
_TOLD = {"GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat"}
# A commit is what its id says, and not what another object, or a line in a file, has in its stead. Only whoever throws objects away heeds those too.
_AS_COMMITTED = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull}
# git rev-parse --local-env-vars, and what else points a git process somewhere (a hook's environment has these).
_LOCATION = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE",
    "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_IMPLICIT_WORK_TREE", "GIT_QUARANTINE_PATH",
    "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
)  # fmt: skip


class GitError(AgentctlError):
    """git said no: `status` is its exit code, `said` what it printed on stderr."""

    def __init__(self, args: Sequence[str], status: int, said: str) -> None:
        super().__init__(f"git {args[0]} failed: {gist(said) or f'exit {status}'}", "mend what git names, then type the command again")
        self.status = status
        self.said = said


def gist(said: str) -> str:
    """What git or a hook says, in one line: the first that it calls fatal, else an error; else all but git's hints."""
    lines = [line for line in said.splitlines() if line.strip() and not line.startswith("hint:")]
    worst = [line.removeprefix(mark) for mark in ("fatal: ", "error: ") for line in lines if line.startswith(mark)]
    told = worst[0] if worst and not worst[0].endswith(":") else " ".join(lines)
    return one_line(told, 300)


def forget_inherited_location() -> None:
    """Drop the variables by which a caller (a git hook, say) points git at another repository; for this process and its children."""
    for name in _LOCATION:
        os.environ.pop(name, None)


# Commands that look at no file and no index; whatever else may ask a filter (whether an index is up to date, say) or a merge driver.
_WITHOUT_FILES = frozenset(
    {
        "cat-file",
        "commit-tree",
        "config",
        "diff-tree",
        "for-each-ref",
        "log",
        "ls-tree",
        "merge-base",
        "mktree",
        "remote",
        "rev-list",
        "rev-parse",
        "symbolic-ref",
    }
    | {"update-ref", "var"}
)


class Guard(Protocol):
    """What keeps the programs that a repository names from being started."""

    def refuse(self) -> None: ...
    def shield(self) -> Mapping[str, str]: ...


class Git:
    """Runs git in one work tree. All paths that go in or come out are relative to its top."""

    def __init__(self, place: Place, guard: Callable[[], Guard]) -> None:
        self._place = place
        self._git = gitpython.cmd.Git(str(place.top))
        self._no_index = {"GIT_INDEX_FILE": str(place.git_dir / "agentctl" / "none.index")}
        self._fixed = {
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_DIR": str(place.git_dir),
            "GIT_WORK_TREE": str(place.top),
            **_AS_COMMITTED,
        }
        self._guard = guard
        self.objects = Objects(self._start, GitError)

    def run(
        self,
        *args: str,
        stdin: bytes | BinaryIO = b"",
        env: Mapping[str, str] | None = None,
        ok: Sequence[int] = (0,),
        timeout: float | None = None,
    ) -> bytes:
        """What `git ARGS` prints, hardened: no hook, helper, merge driver, pager or signing program is started, filters only where trusted. Raises GitError.

        An open file as `stdin` is read by git itself, from where its handle stands. After `timeout` seconds it is ended, which raises GitError too.
        """
        return self._execute(_HARDENED, args, stdin, self._around(args, env), ok, timeout)[1]

    def status(self, *args: str, env: Mapping[str, str] | None = None) -> int:
        """The exit code of `git ARGS`, hardened; for questions that git answers with 0 or 1. Raises GitError as `run` where a signal ended it."""
        return self._execute(_HARDENED, args, b"", self._around(args, env), None)[0]

    def _around(self, args: Sequence[str], env: Mapping[str, str] | None) -> Mapping[str, str]:
        shield = {} if args[0] in _WITHOUT_FILES else self._guard().shield()
        index = self._no_index if args[0] == "diff-tree" else {}  # else it reads the whole index, and looks for attributes in there too
        return {**self._fixed, **shield, **index, **(env or {})}

    def _start(self, *args: str) -> gitpython.Git.AutoInterrupt:
        """A git process that is spoken to, hardened as `run`."""
        env = {**_TOLD, **self._around(args, None)}
        return self._git.execute([*_command(_HARDENED), *args], istream=_PIPE, as_process=True, env=env)

    def run_as_person(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None, timeout: float | None = None) -> tuple[int, str]:
        """Exit code and all that was printed, with the person's own hooks and signing: for what they'd do by hand. Ended after `timeout` seconds.

        Hooks find the environment that they find at a person's commit, so paths given here want `literally`. Raises GitError where a signal ended
        git, unless it was for the time, and Untrusted where the repository would start something that nobody has approved.
        """
        self._guard().refuse()
        locale = {name: os.environ.get(name, "") for name in ("LC_ALL", "LANGUAGE")}
        status, out, said = self._execute(_OWN, args, stdin, {**locale, "GIT_EDITOR": "true", **(env or {})}, None, timeout)
        return status, (out.decode("utf-8", "replace") + "\n" + said).strip()

    def keep_house(self, *args: str) -> tuple[int, str]:
        """Exit code of `git ARGS` and what it printed, hardened, but with the person's own word on when and how to pack, and their hooks.

        It is ended with all that it started where a signal ends this. Raises GitError where a signal ended git, and Untrusted as `run_as_person`.
        """
        self._guard().refuse()
        began = time.time()
        around = {name: value for name, value in self._around(args, None).items() if name not in _AS_COMMITTED}
        env = {**_TOLD, **around}
        process = self._git.execute([*_command(_HOUSE), "--no-pager", *args], as_process=True, env=env, start_new_session=True)
        try:
            out, said = process.communicate()
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.communicate()
            clear_left_locks(self._place, began)
            raise
        if process.returncode < 0:
            clear_left_locks(self._place, began)
            raise GitError(args, process.returncode, f"fatal: {signal.Signals(-process.returncode).name} ended it (out of memory?)")
        return process.returncode, (out + said).decode("utf-8", "replace").strip()

    def _execute(
        self,
        settings: Sequence[str],
        args: Sequence[str],
        stdin: bytes | BinaryIO,
        env: Mapping[str, str],
        ok: Sequence[int] | None,
        timeout: float | None = None,
    ) -> tuple[int, bytes, str]:
        command = [*_command(settings), "--no-pager", *args]
        whole = {**_TOLD, **env}
        began = time.time()
        with _feed(stdin) as feed:
            status, out, said = self._git.execute(
                command,
                istream=feed,
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
                kill_after_timeout=timeout,
                env=whole,
            )
        if status < 0 and timeout is None:
            clear_left_locks(self._place, began)
            raise GitError(args, status, f"fatal: {signal.Signals(-status).name} ended it (out of memory?)")
        if status < 0 and ok is not None:
            raise GitError(args, status, f"fatal: it took longer than {timeout:g} s")
        if ok is not None and status not in ok:
            raise GitError(args, status, str(said))
        return status, bytes(out), str(said)


@contextlib.contextmanager
def _feed(stdin: bytes | BinaryIO) -> Iterator[BinaryIO | None]:
    """A file that holds `stdin`, or is it; none for nothing."""
    if not isinstance(stdin, bytes) or not stdin:
        yield stdin or None
        return
    with tempfile.TemporaryFile() as feed:
        feed.write(stdin)
        feed.seek(0)
        yield feed


def _command(settings: Sequence[str]) -> list[str]:
    return ["git", *(word for setting in settings for word in ("-c", setting))]


def listing(paths: Iterable[str]) -> bytes:
    """Paths as git reads them from a file: each ended by NUL."""
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


def literally(paths: Iterable[str]) -> bytes:
    """`paths` (relative to the top) as NUL-ended pathspecs that mean just them."""
    return b"".join(b":(top,literal)" + os.fsencode(path) + b"\0" for path in paths)


def probe(cwd: Path, *args: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a git call outside any known repository (finding one, asking for the version)."""
    status, out, said = gitpython.cmd.Git(str(cwd)).execute(
        [*_command(_HARDENED), *args], with_extended_output=True, with_exceptions=False, stdout_as_string=False, env={"GIT_TERMINAL_PROMPT": "0"}
    )
    return status, os.fsdecode(bytes(out)), str(said)
