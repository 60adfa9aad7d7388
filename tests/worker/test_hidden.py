"""A command of a step can't read the keys of the process that started it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.model.client import Child, ChildError
from tests.project import SOURCE, Project

_ASK = """
import ctypes, os, pathlib, sys
from agent.hidden import hide_own_memory
from agent.worker.shell import run_command

if os.getuid() == 0:  # root reads everything: be somebody else, as after an exec
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)

def ask():
    return run_command("cat /proc/$PPID/environ", cwd=pathlib.Path("/"), env={"PATH": os.environ["PATH"]}, timeout=20).output

print("before", "swordfish-and-chips" in ask())
print("agreed", hide_own_memory())
print("after", "swordfish-and-chips" in ask())
"""

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has it")


@linux
def test_a_command_cannot_read_the_keys_of_its_parent() -> None:
    env = {**os.environ, "PYTHONPATH": str(SOURCE), "A_KEY": "swordfish-and-chips"}
    done = subprocess.run([sys.executable, "-c", _ASK], env=env, capture_output=True, text=True, timeout=60, check=True)
    if "before False" in done.stdout:
        pytest.skip("here no process reads another's environment anyway")
    assert done.stdout.split("\n")[1:3] == ["agreed True", "after False"]


_DUMPABLE = "import ctypes, sys; print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"


@linux
@pytest.mark.parametrize("words", [("step",), ("run", "--steps", "1"), ("plan", "--goal", "More")])
def test_the_commands_that_work_with_a_model_hide_theirs(project: Project, words: tuple[str, ...]) -> None:
    """Told by the process itself as it ends, since in this test root might read it."""
    hook = project.root.parent / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(f"import atexit\natexit.register(lambda: exec({_DUMPABLE!r}))\n")
    project.items("Mend the sum")
    ran = project.interpreter(*words, env={"PYTHONPATH": os.pathsep.join([str(hook), str(SOURCE)])})
    assert ran.out.endswith("0\n")
    assert project.interpreter("todo", env={"PYTHONPATH": os.pathsep.join([str(hook), str(SOURCE)])}).out.endswith("1\n")


@linux
def test_the_process_that_holds_the_models_keys_hides_them_before_anything_else_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "litellm.py").write_text("import ctypes\nraise ImportError(f'dumpable: {ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)}')\n")
    child = Child({**os.environ, "PYTHONPATH": str(tmp_path)})
    with pytest.raises(ChildError, match="dumpable: 0"):
        child.ask({"do": "check"}, 20)
    child.close()
