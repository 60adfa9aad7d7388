"""The model's process: it may die, hang or be left alone, and nothing stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.errors import Exit
from agent.lock import holder
from agent.model import client
from agent.model.client import Child, ClientModel
from agent.model.errors import Kind, ModelError, Reason
from agent.model.opening import open_model
from agent.model.protocol import Endpoint, Task
from tests.model.chat_server import ChatServer, calls, text
from tests.model.conftest import ASKED, KEY, ROOT, clean_env


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone_within(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(pid)


def failing(asked: ClientModel) -> ModelError:
    with pytest.raises(ModelError) as caught:
        asked.complete(ASKED)
    return caught.value


def test_opening_does_not_wait_and_closing_twice_leaves_nothing(tmp_path: Path) -> None:
    began = time.monotonic()
    child = Child(clean_env(tmp_path))
    assert time.monotonic() - began < 1.0
    pid = child.pid
    assert pid is not None
    assert os.getsid(pid) == pid
    child.close()
    child.close()
    assert not alive(pid)
    assert child.pid is None


def test_limits_and_price_are_known_before_the_process_is(tmp_path: Path) -> None:
    began = time.monotonic()
    with open_model("anthropic/claude-sonnet-4-5", endpoint=Endpoint(), task=Task("x"), root=tmp_path) as asked:
        assert (asked.name, asked.limits.window) == ("anthropic/claude-sonnet-4-5", 200_000)
        assert asked.price is not None
    assert time.monotonic() - began < 2.0


def test_a_process_that_hangs_or_dies_is_an_error_and_the_next_call_gets_a_new_one(
    tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_GRACE", 0.3)
    server.says(text("hi"))
    child = Child(clean_env(tmp_path))
    asked = ClientModel("openai/local", Endpoint(api_base=server.url), child, limit=20.0)
    try:
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        died = failing(asked)
        assert (died.kind, died.reason, died.tries, died.code) == (Kind.WAIT, Reason.DIED, 3, Exit.UNAVAILABLE)
        assert "killed by signal 9" in died.message
        assert "agentctl doctor" in died.hint

        assert asked.complete(ASKED).text == "hi"
        pid = child.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        hung = failing(ClientModel("openai/local", Endpoint(api_base=server.url), child, limit=0.2))
        assert (hung.reason, hung.kind, hung.code) == (Reason.TIMEOUT, Kind.WAIT, Exit.UNAVAILABLE)
        assert not alive(pid)
    finally:
        child.close()


def test_a_start_that_hangs_is_ended(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import time, sys\nwhile True: print('busy', file=sys.stderr, flush=True); time.sleep(0.01)\n")
    child = Child(clean_env(tmp_path, PYTHONPATH=str(tmp_path)), start_limit=0.5)
    pid = child.pid
    assert pid is not None
    assert failing(ClientModel("openai/local", Endpoint(), child)).kind is Kind.WAIT
    assert not alive(pid)


def test_what_broke_is_told_without_the_keys(tmp_path: Path) -> None:
    package = tmp_path / "litellm"
    package.mkdir()
    (package / "__init__.py").write_text(f"raise ImportError('no such part, {KEY}')")
    broken = Child(clean_env(tmp_path, PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path[1:]]), FAKE_API_KEY=KEY))
    error = failing(ClientModel("openai/local", Endpoint(), broken))
    assert error.kind is Kind.BUG
    assert "litellm cannot be imported (ImportError: no such part, [redacted])" in error.message

    (package / "__init__.py").write_text(f"import os, sys\nprint('last words', '{KEY}', file=sys.stderr)\nsys.stderr.flush()\nos._exit(3)")
    dying = Child(clean_env(tmp_path, PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path[1:]]), FAKE_API_KEY=KEY))
    error = failing(ClientModel("openai/local", Endpoint(), dying))
    assert error.kind is Kind.BUG
    assert "exit status 3" in error.message
    assert "last words [redacted]" in error.message


ORPHAN = """
import time
from agent.model.client import Child

print(Child().pid, flush=True)
time.sleep(60)
"""

STRANGER = """
import sys, time
from pathlib import Path
from agent.model.opening import open_model
from agent.model.protocol import Endpoint, Task
from tests.model.conftest import ASKED

asked = open_model("openai/local", endpoint=Endpoint(api_base=sys.argv[1]), task=Task("x"), root=Path())
print(asked.complete(ASKED).calls)
print(asked._child.pid, flush=True)
time.sleep(60)
"""


def test_when_the_parent_is_killed_its_model_process_goes_too_even_while_it_imports(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ORPHAN], env=importing_ours(tmp_path), stdout=subprocess.PIPE) as parent:
        assert parent.stdout
        pid = int(parent.stdout.readline())
        assert alive(pid)
        parent.kill()
        assert gone_within(pid, 10.0)


def test_a_strangers_folder_lends_the_process_neither_code_nor_settings_and_only_our_own_prints_show(tmp_path: Path, server: ChatServer) -> None:
    stranger = tmp_path / "repository"
    stranger.mkdir()
    for module in ("litellm", "httpx", "openai", "queue", "ipaddress", "agent"):
        (stranger / f"{module}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').write('{module}')\nraise SystemExit\n")
    (stranger / ".env").write_text("OPENAI_API_KEY=sk-out-of-the-repository\nLITELLM_LOG=DEBUG\n")
    server.says(calls(("read", {"path": "a.py"})))
    command = [sys.executable, "-P", "-c", STRANGER, server.url]
    with subprocess.Popen(command, cwd=stranger, env=importing_ours(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        assert parent.stderr
        assert parent.stdout.readline() == "(ToolCall(id='call_1', name='read', args='{\"path\": \"a.py\"}'),)\n"
        pid = int(parent.stdout.readline())
        assert alive(pid)
        parent.kill()
        assert (parent.stdout.read(), parent.stderr.read()) == ("", "")
        assert gone_within(pid, 10.0)
    assert not (tmp_path / "ran").exists()
    assert server.requests[0].headers["authorization"] == "Bearer none"


def importing_ours(home: Path) -> dict[str, str]:
    env = clean_env(home)
    return env | {"PYTHONPATH": os.pathsep.join([str(ROOT), env["PYTHONPATH"]])}


HOLDER = """
import sys, threading, time
from pathlib import Path
from agent.lock import locked
from agent.model.opening import open_model
from agent.model.protocol import Endpoint, Task
from tests.model.conftest import ASKED

if sys.argv[3:]:
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
with locked(Path(sys.argv[2])), open_model("openai/local", endpoint=Endpoint(api_base=sys.argv[1]), task=Task("x"), root=Path()) as asked:
    print(asked.complete(ASKED).text)
    print(asked._child.pid, flush=True)
    time.sleep(60)
"""


@contextmanager
def holding(home: Path, server: ChatServer, *more: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A process that holds the lock in `home` and has asked a model of its own, and the process id of the model."""
    server.says(text("hi"))
    command = [sys.executable, "-P", "-c", HOLDER, server.url, str(home), *more]
    with subprocess.Popen(command, env=importing_ours(home), stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        assert parent.stdout.readline() == "hi\n"
        yield parent, int(parent.stdout.readline())
        parent.kill()


def command_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked elsewhere")
def test_what_asks_directly_is_a_fork_that_keeps_nothing_open_of_its_parent_and_ends_with_it(tmp_path: Path, server: ChatServer) -> None:
    with holding(tmp_path, server) as (parent, pid):
        assert command_of(pid) == command_of(parent.pid)
        assert os.getsid(pid) == pid
        assert holder(tmp_path) == parent.pid
        os.kill(pid, signal.SIGSTOP)
        parent.kill()
        parent.wait()
        assert holder(tmp_path) is None
        os.kill(pid, signal.SIGCONT)
        assert gone_within(pid, 10.0)


@pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked elsewhere")
def test_beside_another_thread_nothing_is_forked(tmp_path: Path, server: ChatServer) -> None:
    with holding(tmp_path, server, "threads") as (parent, pid):
        assert command_of(pid) != command_of(parent.pid)


@pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked elsewhere")
@pytest.mark.parametrize("way", ["raise SystemExit(0)", "raise ValueError('no such part')", "raise KeyboardInterrupt"])
def test_whatever_breaks_in_the_fork_nothing_of_its_parent_goes_on_in_it(tmp_path: Path, way: str) -> None:
    script = f"""
from agent.model.process import Parted
def broken(): {way}
try:
    parted = Parted(broken)
    print(parted.stderr.fileno() > 2, flush=True)
    import select; select.select([parted.stdout], [], [])
    print(parted.end(), parted.end(), (parted.stderr.closed))
finally:
    print("over", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", script], env=importing_ours(tmp_path), capture_output=True, text=True, check=True)
    assert done.stdout == "True\n1 1 True\nover\n"
