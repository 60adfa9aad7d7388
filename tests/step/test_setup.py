"""`setup:` fetches what the checks need: with the network, once for what it is made from, and without a trace that git would show."""

from __future__ import annotations

import socket
from contextlib import closing
from pathlib import Path

import pytest

from tests.project import ADDS, Project, call, finish, reply

ITEM = "make-add-add"
MAKES = "A=web mkdir -p deps && cat package-lock.json > deps/installed && echo x >> deps/times"


def _with(project: Project, setup: str, checks: str = "sh check.sh && test -s deps/installed") -> None:
    project.write(".agent/config.yaml", f"checks: ['{checks}']\nsetup: ['{setup}']\n")
    project.write(".gitignore", "deps/\n")
    project.write("package-lock.json", "{}\n")
    project.commit("Setup")
    project.record({ITEM: [[reply(ADDS, finish())]] * 3})


def _times(project: Project) -> int:
    made = project.root / "deps/times"
    return len(made.read_text().split()) if made.exists() else 0


def _again(project: Project) -> None:
    project.agentctl("undo", ITEM, "--because", "once more")
    ran = project.agentctl("step")
    assert ran.code == 0, ran.err


def test_it_runs_before_the_first_check_and_what_it_made_stays(listed: Project) -> None:
    _with(listed, MAKES)
    ran = listed.agentctl("step")
    assert ran.code == 0, ran.err
    assert "setup" in ran.err
    assert _times(listed) == 1
    assert listed.status() == ""
    _again(listed)
    assert _times(listed) == 1


@pytest.mark.parametrize("change", ["command", "lock file here", "lock file in a folder that it names", "file that it names", "gone", "record"])
def test_it_runs_again_when_what_it_was_made_from_changed(listed: Project, change: str) -> None:
    _with(listed, f"(cd web; true < deps.list); {MAKES}")
    listed.write("web/yarn.lock", "1\n")
    listed.write("deps.list", "1\n")
    listed.write("web/other", "1\n")
    listed.commit("A folder")
    assert listed.agentctl("step").code == 0
    match change:
        case "command":
            listed.write(".agent/config.yaml", listed.read(".agent/config.yaml").replace("true", "exit 0"))
        case "lock file here":
            listed.write("package-lock.json", '{"x": 1}\n')
        case "lock file in a folder that it names":
            listed.write("web/yarn.lock", "2\n")
        case "file that it names":
            listed.write("deps.list", "2\n")
        case "gone":
            (listed.root / "deps/times").rename(listed.root / "times")
            (listed.root / "deps/installed").unlink()
            (listed.root / "deps").rmdir()
            listed.write(".gitignore", "deps/\ntimes\n")
        case _:
            (listed.root / ".git/agentctl/cache/setup.json").write_bytes(b"\xff{")
    listed.write("web/other", "2\n")
    listed.commit("A change")
    _again(listed)
    assert _times(listed) == (1 if change == "gone" else 2)


def test_it_has_the_network_and_nobody_else_has(listed: Project) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = server.getsockname()[1]
        knock = f'python3 -c "import socket; socket.create_connection((\\"127.0.0.1\\", {port}), 5)"'
        _with(listed, f"{knock} && {MAKES}")
        listed.record({ITEM: [[reply(ADDS, call("run", command=f"{knock} || echo no way")), reply(finish())]]})
        ran = listed.agentctl("step")
        assert ran.code == 0, ran.err
        server.settimeout(5)
        server.accept()[0].close()
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize(
    ("does", "path"),
    [("echo x > fresh.txt", "fresh.txt"), ("echo x >> calc.py", "calc.py"), ("rm check.sh", "check.sh")],
    ids=["new", "changed", "deleted"],
)
def test_what_git_would_show_of_it_ends_the_step_and_is_put_back(listed: Project, does: str, path: str) -> None:
    _with(listed, f"{MAKES}; {does}")
    head = listed.head()
    for _ in range(2):
        ran = listed.agentctl("step")
        assert ran.code == 1
        assert f"setup changed what git would commit: {path}" in ran.err
        assert "let git ignore what setup makes" in ran.err
        assert listed.status() == ""
        assert listed.head() == head
    assert _times(listed) == 2


def test_a_command_that_fails_ends_the_step_with_the_tail_of_its_output(listed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "a-very-secret-word-7")
    _with(listed, "echo a-very-secret-word-7; echo half > half.txt; echo no such package: left-pad; exit 3")
    ran = listed.agentctl("step")
    assert ran.code == 1
    assert "setup failed: `echo" in ran.err
    assert "no such package: left-pad" in ran.err
    assert "a-very-secret-word-7" not in ran.err
    assert "mend `setup:` in .agent/config.yaml" in ran.err
    assert listed.status() == ""
    assert not (listed.root / ".git/agentctl/cache/setup.json").exists()


def test_what_checks_had_said_without_it_is_asked_anew(listed: Project) -> None:
    _with(listed, MAKES, checks="test -s deps/installed")
    listed.write(".agent/config.yaml", "checks: ['test -s deps/installed']\n")
    listed.commit("No setup yet")
    listed.record({ITEM: [[reply(ADDS, finish()), reply(call("ask", question="Where are the deps?"))], [reply(ADDS, finish())]]})
    assert listed.agentctl("step").code == 6
    listed.agentctl("todo", "reopen", ITEM, "--because", "setup comes")
    listed.write(".agent/config.yaml", f"checks: ['test -s deps/installed']\nsetup: ['{MAKES}']\n")
    listed.commit("Setup")
    ran = listed.agentctl("step")
    assert ran.code == 0
    assert "passed test -s deps/installed: before the step" in ran.err


def test_it_is_shown_before_it_runs(listed: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _with(listed, MAKES)
    assert f"setup runs first, with the network: {MAKES}" in listed.agentctl("step", "--dry-run").err
    assert f"the next step runs setup first, with the network: {MAKES}" in listed.agentctl("doctor").out
    monkeypatch.delenv("AGENTCTL_TRUST")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert f"new  setup with the network: {MAKES}" in listed.agentctl("trust").out
    assert listed.agentctl("step").code == 6
    assert _times(listed) == 0
    assert listed.agentctl("trust", "--yes").code == 0
    assert listed.agentctl("step").code == 0
    assert "setup runs first" not in listed.agentctl("step", "--dry-run").err
    assert "runs setup first" not in listed.agentctl("doctor").out
