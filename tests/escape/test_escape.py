"""Attempts to get out of the sandbox, each in the shell behind the worker's tool: each fails, and leaves no trace."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.domain.config import SandboxSettings
from agent.worker.sandbox.choice import tried
from agent.worker.sandbox.confines import confine
from agent.worker.sandbox.nothing import Nothing
from agent.worker.sandbox.protocol import Attempt, Sandbox
from agent.worker.sandbox.trial import try_out
from agent.worker.shell import Shell, clean_environment
from tests.escape.attempts import ESCAPES, Escape
from tests.escape.world import ESCAPED, SECRET, SHARED, World, running, world_around
from tests.project import ADDS, SOURCE, Project, call, finish, reply

_MINE = "agentctl-escape-*"  # what attempts call a file in shared memory, where other programs of the machine write too


def escaped(world: World, escape: Escape) -> str:
    """What the attempt came to, "" where it failed."""
    before = world.trace(*SHARED.glob(_MINE))
    result = world.run(escape.command)
    told = [word for word in (SECRET, ESCAPED) if word in result]
    after = world.trace(*SHARED.glob(_MINE))
    changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    return f"{told} {changed}\n{result}" if told or changed else ""


@pytest.mark.parametrize("escape", ESCAPES, ids=lambda one: one.name)
def test_the_attempt_fails_and_leaves_no_trace(world: World, escape: Escape) -> None:
    sandbox = world.shells.work.sandbox
    if escape.aim is not None and escape.aim in sandbox.gaps:
        pytest.skip(f"{sandbox.name} says so itself: {sandbox.gaps[escape.aim]}")
    assert escaped(world, escape) == ""


@pytest.mark.parametrize("escape", [one for one in ESCAPES if one.bare], ids=lambda one: one.name)
def test_without_a_sandbox_the_attempt_succeeds(open_world: World, escape: Escape) -> None:
    """So that no attempt fails for a reason of its own."""
    assert escaped(open_world, escape)


@pytest.mark.parametrize("kept", ["apps/web/.agent", "lib/deep/module/.git"])
@pytest.mark.parametrize("moved", ["itself", "the folder above", "the topmost folder"])
def test_what_is_kept_deep_in_the_tree_can_not_be_moved_away(tmp_path: Path, sandbox: Sandbox, kept: str, moved: str) -> None:
    if Attempt.GIT in sandbox.gaps:
        pytest.skip(f"{sandbox.name} says so itself")
    tree, scratch, place = tmp_path.resolve() / "tree", tmp_path.resolve() / "scratch", Path(kept)
    for folder in (tree / kept, scratch / "home", scratch / "tmp"):
        folder.mkdir(parents=True)
    (tree / kept / "config").write_text("as it was")
    settings = SandboxSettings()
    shell = Shell(tree, clean_environment(os.environ), sandbox, confine(tree, [tree / kept], scratch, settings, os.environ), settings, scratch)
    what = {"itself": place, "the folder above": place.parent, "the topmost folder": Path(place.parts[0])}[moved]
    shell.run(f"mv {what} {what}-away; mkdir -p {kept}; echo mine > {kept}/config; touch {place.parent}/beside", 20)
    assert (tree / kept / "config").read_text() == "as it was"
    assert (tree / place.parent / "beside").exists()


def test_a_sandbox_is_tried_as_well_where_temporary_files_lie_deep(sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ("deep" * 30)).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / ("deep" * 30)))
    assert try_out(sandbox) == tried(sandbox.name)
    assert Attempt.SOCKET in try_out(Nothing()).open


def test_nothing_survives_a_command(world: World) -> None:
    word = f"3{time.monotonic_ns() % 10**8}.5"
    daemon = f"import os, time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); os.execvpe('sleep', ['sleep', '{word}'], {{}})"
    world.run(
        f'sleep {word} & setsid sleep {word} & nohup sleep {word} >/dev/null 2>&1 & env -i setsid sleep {word} & {{python}} -c "{daemon}"; sleep 0.3'
    )
    assert running(word) == []


def test_a_command_that_runs_out_of_time_leaves_nothing(world: World) -> None:
    word = f"4{time.monotonic_ns() % 10**8}.5"
    began = time.monotonic()
    result = world.run(f"trap '' TERM; echo begun; env -i setsid sleep {word} & sleep {word}; sleep {word}", timeout=1)
    assert "begun" in result
    assert running(word) == []
    assert time.monotonic() - began < 20


def test_a_file_is_no_larger_than_allowed(furnished: Project, sandbox: Sandbox) -> None:
    with world_around(furnished, SandboxSettings(kind=sandbox.name, file_bytes=1_000_000)) as world:
        world.run(
            "head -c 5000000 /dev/zero > big; ulimit -f unlimited; head -c 5000000 /dev/zero > big2; head -c 5000000 /dev/zero > $TMPDIR/big3; ls -l $TMPDIR"
        )
    sizes = [(furnished.root / name).stat().st_size for name in ("big", "big2")]
    assert max(sizes) <= 1_000_000


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_agentctl_ends_its_commands_too(furnished: Project, sandbox: Sandbox, number: signal.Signals) -> None:
    word = f"5{time.monotonic_ns() % 10**8}.5"
    [item] = furnished.items("First")
    furnished.record({item: [[reply(call("run", command=f"env -i setsid sleep {word} & sleep {word}"), ADDS, finish())]]})
    env = {**os.environ, "PYTHONPATH": str(SOURCE), "AGENTCTL_SANDBOX": sandbox.name}
    with subprocess.Popen([sys.executable, "-m", "agent", "step"], cwd=furnished.root, env=env, stderr=subprocess.DEVNULL) as process:
        until(lambda: len(running(word)) >= 2)
        process.send_signal(number)
        process.wait(60)
    until(lambda: running(word) == [], seconds=10)


def until(true: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_step_lands_in_each_sandbox_and_says_in_its_note_where_one_is_weaker(
    furnished: Project, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Worker and checks both run in it: what either writes outside isn't there, and git's own commands that only read work."""
    monkeypatch.setenv("AGENTCTL_SANDBOX", sandbox.name)
    [item] = furnished.items("First")
    furnished.write("check.sh", "echo x > ../outside-by-check; cat ~/.ssh/id_rsa; git status --porcelain; grep -q 'a + b' calc.py\n")
    furnished.commit("A check that tries too much")
    furnished.record({item: [[reply(call("run", command="git status && git log --oneline && echo x > ../outside-by-worker"), ADDS, finish())]]})
    ran = furnished.agentctl("step")
    assert ran.code == 0, ran.err
    assert not list(furnished.root.parent.glob("outside-by-*"))
    assert SECRET not in furnished.git("log", "-p", "--all")
    assert (f"sandbox: {sandbox.name}\n" in furnished.git("show", "HEAD")) == bool(sandbox.gaps)
    assert furnished.agentctl("status", "--json").json["sandbox"] == (sandbox.name if sandbox.gaps else None)


def test_without_a_sandbox_status_and_note_say_so(furnished: Project) -> None:
    furnished.write(".agent/config.yaml", "checks: [sh check.sh]\nsandbox: none\n")
    furnished.commit("No sandbox")
    [item] = furnished.items("First")
    furnished.record({item: [[reply(ADDS, finish())]]})
    assert furnished.agentctl("step").code == 0
    assert "sandbox: none\n" in furnished.git("show", "HEAD")
    assert "none: commands can do whatever you can" in furnished.agentctl("status").out


def test_where_nothing_confines_a_command_no_model_is_called(furnished: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTCTL_SANDBOX", "sandbox-exec")
    if sys.platform == "darwin":
        pytest.skip("here it is the one that works")
    [item] = furnished.items("First")
    furnished.record({item: [[reply(ADDS, finish())]]})
    ran = furnished.agentctl("step")
    assert ran.code == 1
    assert all(way in ran.err for way in ("install bubblewrap", "container", "sandbox: none"))
    assert not (furnished.root / ".git/agentctl/ledger.jsonl").exists()
