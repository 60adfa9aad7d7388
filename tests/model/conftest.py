"""One model process for each test module, since importing litellm takes seconds, and noisy on purpose."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.domain.chat import Message, Request, ToolSpec
from agent.model.client import Child
from agent.model.process import DIRECT, LITELLM
from tests.model.chat_server import ChatServer

ROOT = Path(__file__).parents[2]

KEY = "sk-test-0123456789abcdef0123456789abcdef"
OTHER_KEY = "plain words of a key 4711"

# Runs at the start of Python, as coverage tools and vendors' hooks do: prints at once, and on and on, to both streams, more than a pipe holds.
NOISE = """
import sys, threading, time
print("noise before anything else")
sys.stdout.write("and half a line")
sys.stdout.flush()
def drone():
    sys.stderr.write("x" * 200_000)
    while True:
        print('{"reply": "noise"}', flush=True)
        print("noise", file=sys.stderr, flush=True)
        time.sleep(0.05)
threading.Thread(target=drone, daemon=True).start()
"""

READ = ToolSpec("read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})
ASKED = Request((Message("system", "Be brief."), Message("user", "Look at a.py.")), (READ,), 500)


def clean_env(home: Path, **more: str) -> dict[str, str]:
    """An environment without keys, proxies or a person's settings."""
    return {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path[1:]), **more}


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture(scope="module")
def child(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Child]:
    """One that calls through litellm."""
    yield from _running(tmp_path_factory.mktemp("home"), LITELLM)


@pytest.fixture(scope="module", params=[LITELLM, DIRECT])
def either(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Child]:
    """One that calls through litellm, then one that calls the server itself."""
    yield from _running(tmp_path_factory.mktemp("home"), request.param)


def _running(home: Path, caller: str) -> Iterator[Child]:
    (home / "sitecustomize.py").write_text(NOISE)
    env = clean_env(home, FAKE_API_KEY=KEY, MY_SECRET=OTHER_KEY, EMPTY_KEY="")
    env["PYTHONPATH"] = os.pathsep.join([str(home), env["PYTHONPATH"]])
    running = Child(env, caller=caller)
    yield running
    running.close()
