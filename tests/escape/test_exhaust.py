"""Attempts to use the machine up: processes, files, the disk. Each is small here, so that it does no harm where it is not kept."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import pytest

from agent.domain.config import SandboxSettings
from agent.worker.sandbox.protocol import Confines, Limits, Sandbox
from agent.worker.sandbox.trial import limits_processes
from agent.worker.shell import run_command
from tests.escape.conftest import working
from tests.escape.world import running, world_around
from tests.project import SOURCE, Project, call, finish, reply

MOST = 60
WANTED = 200
PATIENCE = 300  # seconds: nothing here takes long, and nothing is decided by how long it takes
NOBODY = 65_534


def bomb(word: str) -> str:
    """Starts processes that stay, each told of by its number, and ends when it may start no more or there are WANTED: however slow the machine."""
    return f"exec sh -c 'i=0; while [ $i -lt {WANTED} ]; do sleep {word} & i=$((i+1)); echo made $i; done'"


def made(output: str) -> int:
    return max(map(int, re.findall(r"^made (\d+)$", output, re.MULTILINE)), default=0)


def a_word() -> str:
    return f"6{time.monotonic_ns() % 10**8}.5"


def test_a_fork_bomb_leaves_nothing_and_is_cut_at_its_limit_where_one_holds(furnished: Project, sandbox: Sandbox) -> None:
    word = a_word()
    with world_around(furnished, SandboxSettings(kind=sandbox.name, processes=MOST)) as world:
        count = made(world.run(bomb(word), timeout=PATIENCE))
    assert running(word) == []
    assert (0 < count < MOST) == limits_processes(sandbox)
    assert os.geteuid() == 0 or limits_processes(sandbox)


@pytest.mark.skipif(os.geteuid() != 0, reason="the kernel counts the processes of others")
def test_root_has_a_group_for_each_command_where_one_can_be_made_and_none_is_left(furnished: Project, sandbox: Sandbox) -> None:
    if not limits_processes(sandbox):
        pytest.skip("no control group that counts processes can be made here")
    places = [Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup")]
    before = {group for place in places for group in place.glob("**/agentctl*")}
    with world_around(furnished, SandboxSettings(kind=sandbox.name, processes=MOST)) as world:
        assert "done" in world.run("echo done")
        world.run("sleep 60", timeout=1)
    mine = {group for place in places for group in place.glob("**/agentctl*")} - before
    assert [group for group in mine if not (group / "cgroup.procs").read_text().strip()] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="the kernel counts the processes of others")
def test_an_agentctl_that_begins_takes_away_what_a_killed_one_left_and_not_what_another_is_about_to_use(sandbox: Sandbox) -> None:
    if not limits_processes(sandbox):
        pytest.skip("no control group that counts processes can be made here")
    made = "from agent.worker.sandbox.cgroup import counted\nfrom agent.worker.sandbox.protocol import Launch\nimport sys\n"
    made += "with counted(Launch(['true'], {}), 50) as launch:\n    print(launch.argv[3], flush=True)\n    sys.stdin.read()\n"
    env = {"PYTHONPATH": str(SOURCE), "PATH": os.environ["PATH"]}
    with subprocess.Popen([sys.executable, "-c", made], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout
        group = Path(first.stdout.readline().strip()).parent
        subprocess.run([sys.executable, "-c", made], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
        assert group.exists()
        first.kill()
    subprocess.run([sys.executable, "-c", made], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    assert not group.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_under_version_2_a_group_counts_or_none_is_left_where_its_parent_counts_nothing() -> None:
    """In a mount namespace of its own, where version 2 lies in the place of whatever there is."""
    script = """
        from pathlib import Path
        from agent.worker.sandbox.cgroup import counted
        from agent.worker.sandbox.protocol import Launch
        place = Path("/sys/fs/cgroup")
        own = place / next(line for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))[3:].lstrip("/")
        counts = any("pids" in (folder / "cgroup.subtree_control").read_text().split() for folder in (own, own.parent) if folder.is_relative_to(place))
        with counted(Launch(["true"], {}), 50) as launch:
            group = Path(launch.argv[3]).parent if len(launch.argv) > 1 else None
            print(counts, bool(group) and (group / "pids.max").read_text().strip() == "50")
        print(sorted(place.glob("**/agentctl*")))
    """
    mounts = f"mount -t cgroup2 none /sys/fs/cgroup && exec {shlex.quote(sys.executable)} -c {shlex.quote(textwrap.dedent(script))}"
    env = {"PYTHONPATH": str(SOURCE), "PATH": os.environ["PATH"]}
    done = subprocess.run(["unshare", "--mount", "sh", "-c", mounts], env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"version 2 can't be mounted here: {done.stderr[-200:]}")
    assert done.stdout in ("True True\n[]\n", "False False\n[]\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="the test above says it already")
def test_a_fork_bomb_of_who_is_not_root_is_cut_at_its_limit() -> None:
    """As another user, whom the kernel counts: a process that has given root up starts the command."""
    sandbox, word = working("bubblewrap"), a_word()
    with tempfile.TemporaryDirectory() as folder:
        tree, scratch, told = Path(folder, "tree"), Path(folder, "scratch"), Path(folder, "told")
        for path in (tree, scratch / "home", scratch / "tmp"):
            path.mkdir(parents=True)
        for path in (Path(folder), *Path(folder).rglob("*")):
            path.chmod(0o777)
        confines = Confines(tree, (), (), (), (), (), Path("/home/nobody"), scratch, limits=Limits(processes=MOST))
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([])
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
                told.write_text(run_command(bomb(word), cwd=tree, env={"PATH": "/usr/bin:/bin"}, timeout=PATIENCE, inside=(sandbox, confines)).output)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        output = told.read_text() if told.exists() else "it gave no word"
    assert running(word) == []
    if "made 1\n" not in output:
        pytest.skip(f"another user can't start a sandbox here: {output[:200]}")
    assert made(output) < MOST


def test_what_filled_the_disk_is_gone_when_its_step_has_failed(furnished: Project, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """In files of the largest size that is allowed, in the tree and in the folder for temporary files."""
    monkeypatch.setenv("AGENTCTL_SANDBOX", sandbox.name)
    furnished.write(".agent/config.yaml", "checks: [sh check.sh]\nsandbox: {file_bytes: 200000}\nlimits: {attempts: 1, calls: 4}\n")
    furnished.commit("A small disk")
    [item] = furnished.items("First")
    fill = "for n in 1 2 3 4; do head -c 900000 /dev/zero > fill$n; head -c 900000 /dev/zero > $TMPDIR/fill$n; done; ls -l . $TMPDIR; true"
    furnished.record({item: [[reply(call("run", command=fill), finish())]]})
    before = sorted(path.name for path in furnished.root.iterdir())
    ran = furnished.agentctl("step")
    assert ran.code == 5, ran
    assert "did not land" in ran.out
    assert sorted(path.name for path in furnished.root.iterdir()) == before
    kept = sum(path.stat().st_size for path in (furnished.root / ".git").rglob("*") if path.is_file())
    assert kept < 900_000
