"""The agents: how each is installed, called, pointed at the loopback server, and what its model says.

All do the same: write hello.py, run it, commit. Versions are those that the registries give on the day; update checks and reports to the makers are switched off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from agent.model.tokens import vocabulary_folder
from benchmarks.peers.server import Act

TASK = "Create the file hello.py which prints 'hello, world' from a main() function, run it with python3 hello.py, and commit it."
HELLO = "def main():\n    print('hello, world')\n\n\nmain()\n"
_RUN = "python3 hello.py"
_COMMIT = "git add hello.py && git commit -q -m 'Add hello.py'"
_DONE = "hello.py is there, prints hello, world, and is committed."
_WRITE = f"cat > hello.py <<'EOF'\n{HELLO}EOF"


class Place(NamedTuple):
    """Where an agent runs: the folder that it is installed in, its home, and the base address of its model."""

    installed: Path
    home: Path
    address: str


@dataclass(frozen=True)
class Agent:
    """One agent. `package` is its name in the registry; `files` are its settings, by path in its home; in them and in `env`
    {address} stands for the base address of its model, {tables} for the token tables that litellm ships: the network has no others here.
    """

    name: str
    package: str
    argv: Callable[[Place], Sequence[str]]
    script: Sequence[Act]
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    npm: bool = False


def _smolagents(place: Place) -> Sequence[str]:
    options = ("--model-type", "OpenAIModel", "--model-id", "mock", "--api-base", f"{place.address}/v1", "--api-key", "x")
    return (f"{place.installed}/bin/smolagent", TASK, *options, "--imports", "subprocess", "--verbosity-level", "0", "--tools")


def _codex(place: Place) -> Sequence[str]:
    return (f"{place.installed}/node_modules/.bin/codex", "exec", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check", TASK)


def _claude(place: Place) -> Sequence[str]:
    return (f"{place.installed}/node_modules/.bin/claude", "-p", TASK, "--allowedTools", "Bash,Write,Edit,Read")


def _pi(place: Place) -> Sequence[str]:
    return (f"{place.installed}/node_modules/.bin/pi", "-p", "--provider", "mock", "--model", "mock", "--no-session", TASK)


def _opencode(place: Place) -> Sequence[str]:
    return (f"{place.installed}/node_modules/.bin/opencode", "run", "-m", "mock/mock", TASK)


def _mini(place: Place) -> Sequence[str]:
    return (f"{place.installed}/bin/mini", "-y", "--exit-immediately", "-m", "openai/mock", "-t", TASK, "-o", f"{place.home}/trajectory.json")


def _gptme(place: Place) -> Sequence[str]:
    return (f"{place.installed}/bin/gptme", "--non-interactive", "--no-confirm", "-m", "openai/mock", TASK)


def _aider(place: Place) -> Sequence[str]:
    model = ("--model", "openai/mock", "--weak-model", "openai/mock", "--openai-api-base", f"{place.address}/v1", "--openai-api-key", "x")
    quiet = "--yes-always --no-check-update --no-show-release-notes --no-show-model-warnings --no-gitignore --analytics-disable"
    plain = "--no-stream --no-pretty --no-fancy-input --edit-format diff --auto-test"
    return (f"{place.installed}/bin/aider", *model, *quiet.split(), *plain.split(), "--test-cmd", _RUN, "--message", TASK)


def filled(text: str, place: Place) -> str:
    """`text` with what its words stand for at `place`."""
    return text.replace("{address}", place.address).replace("{tables}", str(vocabulary_folder()))


def _bash(tool: str) -> list[Act]:
    return [(tool, {"command": _RUN}), (tool, {"command": _COMMIT}), _DONE]


def _code(text: str) -> str:
    return f"Thought: next.\n<code>\n{text}\n</code>"


AGENTS = (
    Agent(
        "codex", "@openai/codex", _codex, npm=True,
        script=[("exec_command", {"cmd": command}) for command in (_WRITE, _RUN, _COMMIT)] + [_DONE],
        env={"MOCK_API_KEY": "x"},
        files={
            ".codex/config.toml": 'model = "gpt-5"\nmodel_provider = "mock"\n[model_providers.mock]\nname = "mock"\nbase_url = "{address}/v1"\n'
            'wire_api = "responses"\nenv_key = "MOCK_API_KEY"\n[analytics]\nenabled = false\n'
        },
    ),
    Agent(
        "claude code", "@anthropic-ai/claude-code", _claude, npm=True,
        script=[("Write", {"file_path": "{root}/hello.py", "content": HELLO}), *_bash("Bash")],
        env={
            "ANTHROPIC_BASE_URL": "{address}", "ANTHROPIC_API_KEY": "sk-ant-mock", "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    ),
    Agent(
        "pi", "@earendil-works/pi-coding-agent", _pi, npm=True,
        script=[("write", {"path": "hello.py", "content": HELLO}), *_bash("bash")],
        env={"PI_SKIP_VERSION_CHECK": "1", "PI_OFFLINE": "1"},
        files={
            ".pi/agent/models.json": '{"providers": {"mock": {"baseUrl": "{address}/v1", "api": "openai-completions", "apiKey": "x",'
            ' "models": [{"id": "mock", "name": "mock", "reasoning": false, "input": ["text"], "contextWindow": 128000, "maxTokens": 4096,'
            ' "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}]}}}'
        },
    ),
    Agent(
        "opencode", "opencode-ai", _opencode, npm=True,
        script=[("write", {"filePath": "{root}/hello.py", "content": HELLO}), ("bash", {"command": _RUN, "description": "run"}), ("bash", {"command": _COMMIT, "description": "commit"}), _DONE],
        env={
            "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "OPENCODE_PERMISSION": '{"*":"allow"}',
        },
        files={
            ".config/opencode/opencode.json": '{"provider": {"mock": {"npm": "@ai-sdk/openai-compatible", "name": "mock", "options": {"baseURL": "{address}/v1",'
            ' "apiKey": "x"}, "models": {"mock": {"name": "mock"}}}}}'
        },
    ),
    Agent(
        "mini-swe-agent", "mini-swe-agent", _mini,
        script=[("bash", {"command": command}) for command in (_WRITE, _RUN, _COMMIT, "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")],
        env={
            "OPENAI_API_BASE": "{address}/v1", "OPENAI_BASE_URL": "{address}/v1", "OPENAI_API_KEY": "x", "MSWEA_CONFIGURED": "true",
            "MSWEA_COST_TRACKING": "ignore_errors", "MSWEA_SILENT_STARTUP": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        },
    ),
    Agent(
        "smolagents", "smolagents[openai,toolkit]", _smolagents,
        script=[
            _code(f"import subprocess\nsubprocess.run({command!r}, shell=True, check=True)") for command in (_WRITE, _RUN, _COMMIT)
        ] + [_code(f"final_answer({_DONE!r})")],
        env={"HF_HUB_OFFLINE": "1"},
    ),
    Agent(
        "gptme", "gptme", _gptme,
        script=[("save", {"path": "hello.py", "content": HELLO}), *_bash("shell")],
        env={
            "OPENAI_BASE_URL": "{address}/v1", "OPENAI_API_KEY": "x", "TIKTOKEN_CACHE_DIR": "{tables}", "GPTME_AUTOUPDATE": "0",
        },
    ),
    Agent(
        "aider", "aider-chat", _aider,
        script=[f"hello.py\n```python\n<<<<<<< SEARCH\n=======\n{HELLO}>>>>>>> REPLACE\n```\n", "Add hello.py"],
    ),
)  # fmt: skip
