"""The process that stays warm between steps: it forks for who has the keys, holds none itself, and nothing outlives its use."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import asdict, replace

from agent.errors import AgentctlError
from agent.model.client import Child, ClientModel
from agent.model.errors import ModelError, Reason
from agent.model.protocol import Endpoint
from agent.model.warm import Forked, Warmth, _listener, apart, fork_from, warm_processes, warmth_for
from tests.model.chat_server import ChatServer, calls, text
from tests.model.conftest import ASKED, KEY, ROOT, clean_env
from tests.model.test_client_process import alive, gone_within
from tests.project import Project, environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="abstract sockets and pidfds are Linux's")

# As agentctl leaves one warm, with something quicker than litellm in it: each fork tells its number, then says back what it is told.
KEEPER = """
import json, os, sys
from agent.model.keeper import leave_one_warm
from agent.model.warm import Warmth

def serve():
    print(os.getpid(), flush=True)
    for line in sys.stdin:
        if line == "die\\n":
            os._exit(7)
        print(line, end="", flush=True)
    os._exit(0)

leave_one_warm(Warmth(**json.loads(sys.argv[1])), serve, ())
"""


def named(seconds: float = 30.0) -> Warmth:
    return Warmth(f"agentctl-model-{os.getuid()}-test-{os.urandom(6).hex()}", seconds, "ab" * 32)


@contextmanager
def kept(warmth: Warmth) -> Iterator[int]:
    """A warm process, which is ended after the test; gives its process id."""
    subprocess.run([sys.executable, "-c", KEEPER, json.dumps(asdict(warmth))], cwd=ROOT, check=True)
    first = forked(warmth)
    pid = parent(first.pid)
    first.end()
    try:
        yield pid
    finally:
        if alive(pid):
            os.kill(pid, signal.SIGKILL)


def forked(warmth: Warmth) -> Forked:
    """A fork, as soon as there is one to have."""
    deadline = time.monotonic() + 20
    while (found := fork_from(warmth)) is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    for pipe in (found.stdin, found.stdout):
        os.set_blocking(pipe.fileno(), True)
    assert int(line(found)) == found.pid
    return found


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def line(process: Forked) -> str:
    return process.stdout.readline().decode()


def say(process: Forked, words: str) -> str:
    process.stdin.write(f"{words}\n".encode())
    return line(process).strip()


def test_several_at_once_each_have_a_fork_of_their_own_and_tell_how_it_ended() -> None:
    warmth = named()
    with kept(warmth) as pid:
        one, two = forked(warmth), forked(warmth)
        assert (parent(one.pid), parent(two.pid)) == (pid, pid)
        assert (say(one, "first"), say(two, "second"), say(one, "third")) == ("first", "second", "third")
        one.stdin.write(b"die\n")
        assert line(one) == ""
        assert one.end() == 7
        assert two.end() == -signal.SIGKILL
        assert (one.end(), two.end()) == (7, -signal.SIGKILL)
        assert gone_within(one.pid, 5)
        assert gone_within(two.pid, 5)
        assert pid in warm_processes()


def test_it_ends_by_itself_when_nobody_has_asked_for_a_while_and_not_before_its_forks() -> None:
    warmth = named(seconds=0.5)
    with kept(warmth) as pid:
        at_work = forked(warmth)
        time.sleep(1.0)
        assert say(at_work, "still here") == "still here"
        at_work.end()
        assert gone_within(pid, 10)
        assert fork_from(warmth) is None


CLIENT = """
import json, sys, time
from agent.model.warm import Warmth, fork_from
forked = fork_from(Warmth(**json.loads(sys.argv[1])))
print(forked.pid, flush=True)
time.sleep(60)
"""


def test_the_fork_of_a_client_that_is_killed_goes_even_when_it_hangs() -> None:
    warmth = named()
    with (
        kept(warmth) as pid,
        subprocess.Popen([sys.executable, "-c", CLIENT, json.dumps(asdict(warmth))], cwd=ROOT, stdout=subprocess.PIPE) as client,
    ):
        assert client.stdout
        fork = int(client.stdout.readline())
        os.kill(fork, signal.SIGSTOP)
        client.kill()
        assert gone_within(fork, 10)
        assert not Path(f"/proc/{fork}").exists()
        assert alive(pid)


def test_forks_go_on_when_the_warm_one_is_killed_and_a_client_can_still_end_them() -> None:
    warmth = named()
    with kept(warmth) as pid:
        at_work = forked(warmth)
        os.kill(pid, signal.SIGKILL)
        assert say(at_work, "on my own") == "on my own"
        assert fork_from(warmth) is None
        at_work.end()
        assert gone_within(at_work.pid, 5)


def test_who_does_not_know_the_keys_is_given_nothing_and_a_stopped_one_is_not_waited_for() -> None:
    warmth = named()
    with kept(warmth) as pid:
        assert fork_from(replace(warmth, proof="cd" * 32)) is None
        assert subprocess.run(["ps", "--ppid", str(pid)], capture_output=True, check=False).returncode == 1
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stranger:
            stranger.connect(warmth.address)
            stranger.sendall(b"x" * 32)
            stranger.recv(64)
            socket.send_fds(stranger, [b"y" * 32], [0, 1, 2])
            stranger.settimeout(5)
            assert stranger.recv(64) == b""
        os.kill(pid, signal.SIGSTOP)
        began = time.monotonic()
        assert fork_from(warmth) is None
        assert time.monotonic() - began < 5


def test_somebody_else_at_the_name_is_told_nothing() -> None:
    warmth = named()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as false:
        false.bind(warmth.address)
        false.listen()
        pid = os.fork()
        if not pid:
            connection, _ = false.accept()
            heard = [connection.recv(1 << 16)]
            connection.sendall(b"z" * 64)
            heard.append(connection.recv(1 << 16))
            os._exit(0 if len(heard[0]) == 32 and heard[1] == b"" else 1)
        assert fork_from(warmth) is None
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_another_version_environment_or_interpreter_has_another_and_a_terminal_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    env = {"HOME": "/home/x", "PATH": "/bin", "OPENAI_API_KEY": KEY}
    one = warmth_for(env)
    assert one
    assert one == warmth_for(env | {"TERM": "dumb", "PWD": "/elsewhere", "AGENTCTL_MODEL": "other"})
    other_key = warmth_for(env | {"OPENAI_API_KEY": KEY[::-1]})
    assert other_key
    assert (other_key.name, other_key.proof == one.proof) == (one.name, False)
    proxied = warmth_for(env | {"SSL_CERT_FILE": "/etc/other.pem"})
    assert proxied
    assert proxied.name != one.name
    monkeypatch.setattr(sys, "version", "4.0")
    upgraded = warmth_for(env)
    assert upgraded
    assert upgraded.name != one.name


def test_keys_are_told_by_name_by_shape_and_by_a_login_in_an_address() -> None:
    keys = {
        "OPENAI_API_KEY": "x",
        "MINE": "tok",
        "LIKE": "sk-" + "a1" * 24,
        "HTTPS_PROXY": "http://me:secret9@proxy:3128",
    }
    passing = {"AGENTCTL_KEY_ENV": "MINE", "_AGENTCTL_HOLDER": "mark", "TERM": "dumb"}
    plain = {"HOME": "/home/x", "HTTP_PROXY": "http://proxy:3128"}
    assert apart(keys | plain | passing) == (plain, keys)


def test_it_can_be_switched_off_and_a_wrong_time_is_told() -> None:
    assert warmth_for({"AGENTCTL_WARM": "0"}) is None
    half = warmth_for({"AGENTCTL_WARM": "0.5"})
    assert half
    assert half.seconds == 30
    for wrong in ("soon", "-1", "inf"):
        with pytest.raises(AgentctlError, match="AGENTCTL_WARM"):
            warmth_for({"AGENTCTL_WARM": wrong})


def test_with_litellm_in_it_the_next_one_answers_at_once_with_its_own_keys_and_the_warm_one_has_none(tmp_path: Path, server: ChatServer) -> None:
    server.says(text("hi"))
    env = clean_env(tmp_path, FAKE_API_KEY=KEY)
    warmth = replace(named(), seconds=60.0)
    endpoint = Endpoint(server.url, "FAKE_API_KEY")
    children = [first := Child(env, warmth=warmth)]
    try:
        assert ClientModel("openai/local", endpoint, first).complete(ASKED).text == "hi"
        first.close()
        began = time.monotonic()
        children.append(second := Child(env | {"OTHER_API_KEY": KEY[::-1]}, warmth=warmth))
        asked = ClientModel("openai/local", Endpoint(server.url, "OTHER_API_KEY"), second, limit=20.0)
        assert asked.complete(ASKED).text == "hi"
        took = time.monotonic() - began
        assert server.requests[-1].headers["authorization"] == f"Bearer {KEY[::-1]}"
        assert second.pid
        (pid,) = [pid for pid in warm_processes() if pid == parent(second.pid)]
        assert took < 3.0
        _holds_no_key(pid)
        os.kill(second.pid, signal.SIGKILL)
        with pytest.raises(ModelError) as died:
            asked.complete(ASKED)
        assert (died.value.reason, "killed by signal 9" in died.value.message) == (Reason.DIED, True)
        os.kill(pid, signal.SIGKILL)
    finally:
        for child in children:
            child.close()


def _holds_no_key(pid: int) -> None:
    """All of its memory, where the tests run as root and may read it; else nobody may."""
    try:
        memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
    except PermissionError:
        return
    parts = [row.split() for row in Path(f"/proc/{pid}/maps").read_text().splitlines()]
    searched = 0
    for start, end in ([int(edge, 16) for edge in part[0].split("-")] for part in parts if part[1].startswith("rw")):
        part = os.pread(memory, end - start, start)
        searched += len(part)
        assert KEY.encode() not in part
        assert KEY[::-1].encode() not in part
    os.close(memory)
    assert searched > 50_000_000


def test_a_second_step_soon_after_the_first_loads_nothing_and_doctor_knows_what_is_warm(project: Project, server: ChatServer) -> None:
    server.says(calls(("edit", {"path": "calc.py", "old": "a - b", "new": "a + b"}), ("finish", {"note": "add() adds.", "letter": "Nothing."})))
    project.items("Mend the sum", "Mend it again")
    env = {"AGENTCTL_WARM": "1", "AGENTCTL_MODEL": "openai/gpt-4o", "AGENTCTL_API_BASE": server.url, "A_LOGIN": "x"}
    first = project.process("step", env=env)
    assert first.code == 0, first.err
    warmth = warmth_for(environment(**env))
    assert warmth is not None
    pid = _listener(warmth.name)
    assert pid in warm_processes()
    began = _cpu(pid)
    server.says(calls(("write", {"path": "more.txt", "content": "more\n"}), ("finish", {"note": "More of it.", "letter": "Nothing."})))
    second = project.process("step", env=env)
    assert second.code == 0, second.err
    assert _cpu(pid) - began < 1.5  # its own and that of the forks that it has waited for
    doctor = project.process("doctor", env=env)
    assert f"process {pid} keeps litellm loaded" in doctor.out
    assert f"kill {pid}" in doctor.out
    os.kill(pid, signal.SIGTERM)
    assert gone_within(pid, 10)


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
