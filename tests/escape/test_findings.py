"""A trial's finding is kept for the very situation that it was made in, and believed from nowhere that a command could write to."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.actions.shells import open_shells
from agent.domain.config import SandboxSettings
from agent.errors import AgentctlError
from agent.repository.repo import discover
from agent.worker.sandbox.bubblewrap import Bubblewrap
from agent.worker.sandbox.choice import tried
from agent.worker.sandbox.findings import Findings
from agent.worker.sandbox.protocol import Sandbox
from agent.worker.sandbox.situation import situation
from tests.escape.conftest import working
from tests.project import SOURCE, Project, finish, reply


def trials() -> int:
    return tried.cache_info().misses


def kept(folder: Path, sandbox: Sandbox) -> Path:
    """The file of a finding that is believed: `forget` and ask again to see."""
    Findings(folder, ()).trial(sandbox)
    return folder / f"{sandbox.name}.json"


def is_believed(folder: Path, sandbox: Sandbox) -> bool:
    tried.cache_clear()
    Findings(folder, ()).trial(sandbox)
    return trials() == 0


def test_what_held_is_not_tried_again_by_a_later_process(furnished: Project, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTCTL_SANDBOX", sandbox.name)
    [item] = furnished.items("First")
    furnished.record({item: [[reply(finish())]]})
    file = Path(os.environ["HOME"], ".local/state/agentctl/sandbox", f"{sandbox.name}.json")
    for _ in range(2):
        assert furnished.process("step").code in (0, 4, 5)
        stamp = file.stat().st_mtime_ns
        assert is_believed(file.parent, sandbox)
    assert file.stat().st_mtime_ns == stamp


def test_a_finding_counts_only_where_nobody_else_and_no_command_can_write(tmp_path: Path, sandbox: Sandbox) -> None:
    folder = tmp_path / "state"
    file = kept(folder, sandbox)
    assert is_believed(folder, sandbox)
    for path, mode in ((file, 0o666), (file, 0o620), (folder, 0o777), (folder, 0o730)):
        before = path.stat().st_mode
        path.chmod(mode)
        assert not is_believed(folder, sandbox), oct(mode)
        path.chmod(before)
    for writable in (tmp_path, folder, folder / "deeper"):
        tried.cache_clear()
        Findings(folder, [writable]).trial(sandbox)
        assert trials() == 1
    (tmp_path / "link").symlink_to(folder)
    tried.cache_clear()
    Findings(tmp_path / "link", [folder]).trial(sandbox)
    assert trials() == 1
    if os.geteuid() == 0:
        os.chown(file, 65_534, 65_534)
        assert not is_believed(folder, sandbox)


def test_a_link_in_its_place_is_not_followed(tmp_path: Path, sandbox: Sandbox) -> None:
    folder = tmp_path / "state"
    file = kept(folder, sandbox)
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert not is_believed(folder, sandbox)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(data=st.data())
def test_no_damaged_finding_is_believed(tmp_path: Path, data: st.DataObject) -> None:
    sandbox = working("landlock")
    folder = tmp_path / "state"
    file = kept(folder, sandbox)
    whole = file.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    damaged = data.draw(
        st.sampled_from([whole[:at], whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :], b"", whole * 2])
    )
    file.write_bytes(damaged)
    assert not is_believed(folder, sandbox)
    file.write_bytes(whole)


def test_one_mechanism_says_nothing_of_another(tmp_path: Path) -> None:
    bubblewrap, landlock = working("bubblewrap"), working("landlock")
    shutil.copy(kept(tmp_path / "state", bubblewrap), tmp_path / "state" / "landlock.json")
    assert not is_believed(tmp_path / "state", landlock)


def test_a_program_that_was_replaced_or_changed_is_another_situation(tmp_path: Path) -> None:
    working("bubblewrap")
    program = Bubblewrap().program
    assert program
    copy = tmp_path / "bwrap"
    shutil.copy(program, copy)
    seen = [situation(Bubblewrap(copy))]
    assert seen == [situation(Bubblewrap(copy))]
    times = copy.stat()
    copy.write_bytes(copy.read_bytes())
    os.utime(copy, ns=(times.st_atime_ns, times.st_mtime_ns))
    seen.append(situation(Bubblewrap(copy)))
    copy.chmod(0o4755)
    seen.append(situation(Bubblewrap(copy)))
    copy.rename(tmp_path / "other")
    copy.symlink_to("other")
    seen.append(situation(Bubblewrap(copy)))
    copy.unlink()
    seen.append(situation(Bubblewrap(copy)))
    assert len(set(seen)) == len(seen)


def test_another_bash_is_another_situation(tmp_path: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    before = situation(sandbox)
    (tmp_path / "bash").write_text("#!/bin/sh\n")
    (tmp_path / "bash").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert situation(sandbox) != before


_TELLS = "from agent.worker.sandbox.choice import mechanisms; from agent.worker.sandbox.situation import situation; print([situation(one) for one in mechanisms()])"


@pytest.mark.parametrize(
    "changed",
    [
        ("setpriv", "--no-new-privs"),
        ("setpriv", "--bounding-set=-sys_admin"),
        ("setpriv", "--reuid=65534", "--clear-groups"),
        ("setpriv", "--groups=1234"),
        ("unshare", "--net"),
        ("unshare", "--mount"),
        ("unshare", "--user", "--map-root-user"),
        ("setarch", "linux32"),
        ("env", "TMPDIR=/var/tmp"),
    ],
    ids=" ".join,
)
def test_a_process_that_may_more_or_less_or_lives_elsewhere_is_in_another_situation(changed: tuple[str, ...]) -> None:
    def tells(*before: str) -> str:
        env = {"PYTHONPATH": str(SOURCE), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([*before, sys.executable, "-c", _TELLS], env=env, capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else f"it can't be had here: {done.stderr}"

    usual = tells()
    if (other := tells(*changed)).startswith("it can't"):
        pytest.skip(other)
    assert tells() == usual
    assert not set(json.loads(usual.replace("'", '"'))) & set(json.loads(other.replace("'", '"')))


def test_a_mechanism_that_stopped_working_lets_no_command_run_whatever_is_believed_and_doctor_forgets_it(tmp_path: Path) -> None:
    """In a user namespace that may hold no other, bubblewrap can't work: a false finding is planted there, as if that had come about unseen."""
    working("bubblewrap")
    script = f"""
        import os, sys
        from pathlib import Path
        from agent.cache import keep
        from agent.domain.config import SandboxSettings
        from agent.errors import AgentctlError
        from agent.worker.sandbox.choice import choose
        from agent.worker.sandbox.confines import confine
        from agent.worker.sandbox.bubblewrap import Bubblewrap
        from agent.worker.sandbox.findings import Findings
        from agent.worker.sandbox.situation import situation
        from agent.worker.shell import Shell
        Path("/proc/sys/user/max_user_namespaces").write_text("0")
        place, sandbox = Path({str(tmp_path)!r}), Bubblewrap()
        file = place / "state" / "bubblewrap.json"
        try:
            choose("bubblewrap", Findings(file.parent, ()).trial)
        except AgentctlError:
            print("refused", file.exists())
        file.parent.mkdir(mode=0o700, exist_ok=True)
        keep(file, {{"situation": situation(sandbox), "open": []}})
        for name in ("tree", "scratch/home", "scratch/tmp"):
            (place / name).mkdir(parents=True)
        findings = Findings(file.parent, ())
        chosen = choose("bubblewrap", findings.trial)
        confines = confine(place / "tree", (), place / "scratch", SandboxSettings(), os.environ)
        done = Shell(place / "tree", dict(PATH=os.environ["PATH"]), chosen, confines, SandboxSettings()).run("touch ran", 20)
        print("believed", file.exists(), done.code != 0, os.listdir(place / "tree"))
        print("trouble", bool(findings.anew(sandbox).trouble), file.exists())
    """
    env = {"PYTHONPATH": str(SOURCE), "PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    unshared = ["unshare", "--user", "--map-root-user", sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(unshared, env=env, capture_output=True, text=True, check=False)
    if "believed" not in done.stdout:
        pytest.skip(f"no such namespace can be had here: {done.stderr[-300:]}")
    assert done.stdout == "refused False\nbelieved True True []\ntrouble True False\n"


@pytest.mark.parametrize("setting", ["", "write"])
def test_no_step_is_taken_where_commands_could_write_a_persons_approvals(furnished: Project, setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a home folder that is a repository, or by a folder under `write:`, a command could approve for another clone."""
    monkeypatch.delenv("AGENTCTL_TRUST")
    above = furnished.root if not setting else Path(os.environ["HOME"], ".local")
    state = above / "state"
    state.mkdir(parents=True)
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    wanted = SandboxSettings(write=(str(above),) if setting else ())
    with pytest.raises(AgentctlError, match="settings and approvals"), open_shells(discover(furnished.root), wanted):
        pass
    with open_shells(discover(furnished.root), SandboxSettings(kind="none")):
        pass
