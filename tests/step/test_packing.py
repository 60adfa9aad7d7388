"""Snapshots leave loose objects; git packs them before a step where it would after a commit of the person's, and nothing goes by that."""

from __future__ import annotations

import hashlib
import itertools
import os
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.project import Project, edit, finish, reply

_ENOUGH = 28  # objects in one of the 256 folders, from which git takes it that there are more than 6700


def _crowd(project: Project) -> list[str]:
    """Loose objects that nothing names, as many as git needs to see; gives their ids."""
    made = []
    for number in itertools.count():
        whole = b"blob %d\0%d" % (len(str(number)), number)
        name = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
        if name.startswith("17"):
            project.write(f".git/objects/17/{name[2:]}", zlib.compress(whole))
            made.append(name)
        if len(made) == _ENOUGH:
            return made
    raise AssertionError


def _ready(project: Project) -> None:
    project.items("Make add() add")
    project.record({"*": [[reply(edit("calc.py", "a - b", "a + b"), finish())]]})


def _loose(project: Project) -> int:
    return int(project.git("count-objects").split(" ")[0])


def _packed(project: Project, names: Sequence[str]) -> bool:
    there = all(project.git("cat-file", "-t", name) == "blob\n" for name in names)
    return there and not any((project.root / ".git/objects" / name[:2] / name[2:]).exists() for name in names)


@pytest.mark.usefixtures("own")
def test_many_loose_objects_are_packed_before_a_step_and_none_goes(project: Project) -> None:
    _ready(project)
    names = _crowd(project)
    before = _loose(project)
    ran = project.agentctl("step")
    assert ran.code == 0, ran.err
    assert "pack: " in ran.err
    assert _loose(project) < before
    assert _packed(project, names)
    assert project.git("fsck", "--full", "--no-dangling") == ""


@pytest.mark.parametrize("setting", [("gc.auto", "0"), ("gc.auto", "100k"), ("gc.auto", "-1"), ("maintenance.auto", "false")])
def test_nothing_is_packed_where_the_person_wants_none_of_it(project: Project, own: Path, setting: tuple[str, str]) -> None:
    _ready(project)
    _crowd(project)
    project.git("config", "--file", str(own), *setting)
    assert "pack: " not in project.agentctl("step").err
    assert len(list((project.root / ".git/objects/17").iterdir())) >= _ENOUGH


@pytest.mark.usefixtures("own")
def test_a_step_is_taken_where_packing_fails(project: Project) -> None:
    _ready(project)
    _crowd(project)
    project.write(".git/objects/17/" + "0" * 38, b"no object")
    ran = project.agentctl("step")
    assert ran.code == 0, ran.err
    assert "pack: git could not: " in ran.err


def _aside(tmp_path: Path, project: Project) -> Iterator[subprocess.Popen[bytes]]:
    """A step whose git takes long to pack, and the process."""
    shim = tmp_path / "bin/git"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nPATH=${{PATH#*:}}\ncase " $* " in *loose-objects*) touch {tmp_path}/packing; sleep 60;; esac\nexec git "$@"\n')
    shim.chmod(0o755)
    command = [sys.executable, "-m", "agent", "step", "--model", f"scripted:{project.recording}"]
    env = {**os.environ, "PATH": f"{shim.parent}:{os.environ['PATH']}", "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    with subprocess.Popen(command, cwd=project.root, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not (tmp_path / "packing").exists():
            assert process.poll() is None
            time.sleep(0.02)
        yield process


@pytest.mark.usefixtures("own")
def test_packing_is_ended_by_a_signal_and_begun_again(project: Project, tmp_path: Path) -> None:
    _ready(project)
    names = _crowd(project)
    for process in _aside(tmp_path, project):
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) == 143
    ran = project.agentctl("step")
    assert ran.code == 0, ran.err
    assert _packed(project, names)


@pytest.mark.usefixtures("own")
def test_what_a_kill_leaves_of_packing_is_taken_away(project: Project, tmp_path: Path) -> None:
    _ready(project)
    names = _crowd(project)
    for process in _aside(tmp_path, project):
        process.kill()
        process.wait()
    objects = project.root / ".git/objects"
    left = [
        objects / name for name in ("maintenance.lock", "17/tmp_obj_Abc123", "pack/tmp_pack_Abc123", "pack/.tmp-1-pack-1.pack", "pack/loose-1.pack")
    ]
    for file in left:
        file.write_bytes(b"half")
    older = objects / "17/tmp_obj_older"
    older.write_bytes(b"a person's")
    os.utime(older, (1, 1))
    ran = project.agentctl("step")
    assert ran.code == 0, ran.err
    assert [file for file in left if file.exists()] == []
    assert older.exists()
    assert _packed(project, names)
