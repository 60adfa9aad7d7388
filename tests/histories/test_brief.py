"""The brief is a pure function of a commit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.histories import claims
from tests.histories.operations import attempt_fails, letter, merge, person_codes, revert_commit, say, session_asks, step_lands
from tests.histories.world import World
from tests.project import SOURCE

# What a person may have set for their own eyes.
_TASTES = """
[core]
	abbrev = 4
	quotePath = true
	autocrlf = input
[color]
	ui = always
[log]
	showSignature = true
	date = relative
	follow = true
	mailmap = true
	decorate = full
[diff]
	renames = copies
	noprefix = true
	external = false
	mnemonicPrefix = true
	orderFile = /dev/null
[i18n]
	logOutputEncoding = ISO-8859-1
[format]
	pretty = oneline
[notes]
	displayRef = *
[grep]
	lineNumber = true
"""

_LATER = """
import datetime, sys, time
real, day = time.time, 400 * 86400
class Later(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(real() + day, tz)
datetime.datetime, time.time = Later, lambda: real() + day
from agent.cli.main import run
assert datetime.datetime.now().timestamp() > real() + 1000
sys.exit(run(sys.argv[1:]))
"""


def _full(world: World) -> None:
    """A history with everything that a brief tells of, on two branches."""
    step_lands(world, 0, 0)
    step = world.head()
    attempt_fails(world, 0, 4)
    letter(world, 2, 2)
    world.project.git("switch", "--quiet", "b1")
    session_asks(world, 1, 4)
    letter(world, 1, 2)
    say(world, 1, 1)
    world.project.git("switch", "--quiet", "main")
    merge(world, 0, 0)
    revert_commit(world, step)
    person_codes(world, 1, 1)


def test_the_brief_is_the_same_whatever_the_cache_holds(world: World) -> None:
    _full(world)
    claims.brief_is_the_commits(world)


def test_the_brief_is_the_same_in_a_fresh_clone_in_another_place_language_and_year_under_other_settings_of_git(world: World, tmp_path: Path) -> None:
    _full(world)
    here = world.project.agentctl("context", "--item", "add-a-test").out
    for part in ("# Earlier attempts at this item", "then undone", "arrived by a merge", "# What people changed since then"):
        assert part in here
    commit = world.head()
    world.project.git("switch", "--quiet", "b1")  # what a clone checks out
    clone = tmp_path / "elsewhere" / "clone"
    subprocess.run(["git", "clone", "--quiet", f"file://{world.project.root}", clone], check=True)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text(_TASTES)
    elsewhere = {
        "HOME": str(tmp_path / "home"),
        "TZ": "Pacific/Kiritimati",
        "LC_ALL": "tr_TR.UTF-8",
        "LANG": "C",
        "PYTHONPATH": str(SOURCE),
        "COLUMNS": "40",
        "PYTHONHASHSEED": "7",
    }
    done = subprocess.run(
        [sys.executable, "-c", _LATER, "context", "--at", commit, "--item", "add-a-test"],
        cwd=clone, env={**os.environ, **elsewhere}, capture_output=True, check=False,
    )  # fmt: skip
    assert done.stdout.decode() == here, done.stderr.decode()
    shutil.rmtree(clone)
