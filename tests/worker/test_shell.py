from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.errors import AgentctlError
from agent.worker.shell import Completed, clean_environment, run_command

ENV = clean_environment({"PATH": os.environ["PATH"], "HOME": "/nonexistent"})


def run(command: str, cwd: Path, timeout: float = 20) -> Completed:
    return run_command(command, cwd=cwd, env=ENV, timeout=timeout)


def running(argument: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if argument.encode() in words:
                found.append(entry.name)
    return found


def test_code_output_and_time_of_a_command_come_back(tmp_path: Path) -> None:
    done = run("echo out; echo err >&2; pwd; exit 3", tmp_path)
    assert (done.code, done.output, done.timed_out) == (3, f"out\nerr\n{tmp_path}\n", False)
    assert 0 < done.seconds < 5


def test_death_by_a_signal_is_told_as_a_shell_tells_it(tmp_path: Path) -> None:
    assert run("kill -9 $$", tmp_path).code == 137


def test_bash_is_used_where_there_is_one_and_sh_where_not(tmp_path: Path) -> None:
    assert run("[[ a == a ]] && echo $BASH_VERSION", tmp_path).output.strip()
    (tmp_path / "bin").mkdir()
    for tool in ("echo", "true"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool) or "")
    bare = run_command("echo still", cwd=tmp_path, env={"PATH": str(tmp_path / "bin")}, timeout=10)
    assert bare.output == "still\n"


def test_case_88_a_command_that_reads_gets_nothing_and_has_no_terminal(tmp_path: Path) -> None:
    done = run("read -r answer || echo no answer; printf y > /dev/tty || echo no terminal", tmp_path)
    assert "no answer" in done.output
    assert "no terminal" in done.output
    assert done.seconds < 5


def test_case_89_git_opens_no_pager_even_when_configured(tmp_path: Path) -> None:
    setup = "git init -q . && git -c user.name=x -c user.email=x@example.invalid commit -q --allow-empty -m first && git config core.pager 'sleep 60' && git config pager.log true"
    env = {**ENV, "HOME": str(tmp_path)}
    assert run_command(setup, cwd=tmp_path, env=env, timeout=20).code == 0
    paged = run_command("script -qec 'git log' /dev/null" if shutil.which("script") else "git -p log", cwd=tmp_path, env=env, timeout=20)
    assert "first" in paged.output
    assert not paged.timed_out


@pytest.mark.skipif(sys.platform != "linux", reason="children that left the group are found through /proc")
def test_case_91_a_time_limit_ends_the_children_too_and_keeps_what_was_said(tmp_path: Path) -> None:
    done = run("echo started; (sh -c 'sleep 31101 & sleep 31102'); setsid sleep 31103", tmp_path, timeout=0.5)
    assert (done.code, done.timed_out, done.output.split("\n")[0]) == (None, True, "started")
    assert done.seconds < 5
    assert not [name for name in ("31101", "31102", "31103") if running(name)]


@pytest.mark.skipif(sys.platform != "linux", reason="children that left the group are found through /proc")
def test_a_daemon_that_left_session_and_pipe_ends_with_the_call(tmp_path: Path) -> None:
    daemon = "import os, time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\nopen('up', 'w').close()\ntime.sleep(60)"
    (tmp_path / "daemon.py").write_text(daemon)
    done = run(f"{sys.executable} daemon.py 31104 >/dev/null 2>&1 </dev/null; until [ -e up ]; do sleep 0.02; done; echo up", tmp_path)
    assert done.output == "up\n"
    assert not running("31104")


def test_a_background_child_that_holds_the_pipe_does_not_hold_the_call(tmp_path: Path) -> None:
    done = run("sleep 31105 & setsid sleep 31106 & echo done", tmp_path)
    assert (done.code, done.output) == (0, "done\n")
    assert done.seconds < 3
    assert not running("31105")


def test_what_ignores_term_is_killed(tmp_path: Path) -> None:
    done = run("trap '' TERM; echo deaf; while true; do sleep 0.05; done", tmp_path, timeout=0.3)
    assert done.timed_out
    assert "deaf" in done.output
    assert done.seconds < 6


def test_what_is_said_on_term_is_kept(tmp_path: Path) -> None:
    done = run("trap 'echo goodbye; exit' TERM; echo hello; while true; do sleep 0.05; done", tmp_path, timeout=0.3)
    assert done.output.startswith("hello\n")
    assert done.output.endswith("goodbye\n")


def test_case_92_memory_stays_flat_with_hundreds_of_megabytes_of_output(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = run("echo FIRST; head -c 200000000 /dev/zero | tr '\\0' 'x'; echo; echo LAST", tmp_path, timeout=60)
    assert done.output.startswith("FIRST\n")
    assert done.output.endswith("\nLAST\n")
    assert "bytes left out" in done.output
    assert len(done.output) < 2_000_000
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 40_000_000


def test_bytes_that_are_not_utf8_are_shown_as_such(tmp_path: Path) -> None:
    assert run(r"printf 'caf\351 \303\251'", tmp_path).output == "caf\\xe9 é"


def test_writing_to_dev_stderr_loses_nothing_said_before(tmp_path: Path) -> None:
    assert run("echo one; echo two > /dev/stderr; echo three", tmp_path).output == "one\ntwo\nthree\n"


def test_a_command_that_cannot_start_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(AgentctlError, match="could not be started"):
        run("true " + "x" * 3_000_000, tmp_path)
    with pytest.raises(AgentctlError, match="could not be started"):
        run("true", tmp_path / "gone")


def test_an_interrupt_ends_the_command() -> None:
    code = (
        "import os, signal, sys, threading\n"
        "from pathlib import Path\n"
        "from agent.worker.shell import run_command\n"
        "threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "try:\n    run_command('sleep 31107', cwd=Path('.'), env={'PATH': os.environ['PATH']}, timeout=30)\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
    )
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    assert done.stdout == "interrupted\n"
    assert time.monotonic() - began < 10
    assert not running("31107")


def test_no_key_and_no_git_location_reaches_a_command() -> None:
    given = {
        "PATH": "/bin",
        "LC_ALL": "C.UTF-8",
        "JAVA_HOME": "/java",
        "VIRTUAL_ENV": "/venv",
        "HTTPS_PROXY": "http://proxy:3128",
        "http_proxy": "http://me:secret@proxy:3128",
        "OPENAI_API_KEY": "sk-secret",
        "GITHUB_TOKEN": "secret",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "SSH_AUTH_SOCK": "/secret",
        "BASH_ENV": "/secret",
        "AGENTCTL_MODEL": "secret",
        "GIT_DIR": "/secret",
        "GIT_INDEX_FILE": "/secret",
        "GIT_EDITOR": "vim",
        "PAGER": "less",
    }
    env = clean_environment(given)
    assert not [value for value in env.values() if "secret" in value]
    assert {"PATH", "LC_ALL", "JAVA_HOME", "VIRTUAL_ENV", "HTTPS_PROXY"} <= env.keys()
    assert not env.keys() & {"AGENTCTL_MODEL", "GIT_DIR", "GIT_INDEX_FILE", "BASH_ENV"}
    assert (env["GIT_EDITOR"], env["PAGER"], env["GIT_PAGER"], env["CI"], env["TERM"]) == ("true", "cat", "cat", "1", "dumb")


def test_a_command_sees_only_the_environment_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    seen = {line.partition("=")[0] for line in run("env", tmp_path).output.splitlines()}
    assert seen - ENV.keys() <= {"PWD", "OLDPWD", "SHLVL", "_", "_AGENTCTL_MARK"}
