"""`python -m benchmarks.peers [ROUNDS [NAME …]]`: the same task by agentctl and each agent that is installed (or named), in one interleaved run; `install` first.

The task: write hello.py, run it, commit, in a fresh repository of ten files. The replies are scripted, one act each, and come from one loopback
server; what an agent does by itself (aider and agentctl run and commit) needs none. Each counted run is looked at: the file is there, prints what it should, and exactly one commit holds it. Agents are looked for in
$PEERS (`~/.cache/agentctl-peers` unless set); `python -m benchmarks.peers install` puts them there with pip and npm.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from agent.model.tokens import count
from benchmarks.measure import AGENTCTL, IMPORTS, environment, workshop
from benchmarks.peers.agents import AGENTS, HELLO, TASK, Agent, Place, filled
from benchmarks.peers.server import Act, Heard, PeerServer

_PEERS = Path(os.environ.get("PEERS") or Path.home() / ".cache/agentctl-peers")
_TICKS = os.sysconf("SC_CLK_TCK")
_ITEM = f"# Create hello.py\n\n{TASK}\n"
_CONFIG = 'checks:\n  - "python3 hello.py"\n'
_FLOOR = f"cat > hello.py <<'EOF'\n{HELLO}EOF\npython3 hello.py\ngit add hello.py && git commit -q -m 'Add hello.py'"
_FINISH = {"note": "hello.py prints hello, world from main().", "letter": "Nothing is left to do here."}
_STEPS = 6


@dataclass(frozen=True)
class Runner:
    """Something to time: `argv` in a fresh repository, `steps` tasks at once; `script` is what the model says, and `cold` whether nothing may be warm.

    Where it is the next after another, that one is run first in the same repository, beside the time.
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    script: Sequence[Act] = ()
    steps: int = 1
    cold: bool = False
    after: Runner | None = None

    @property
    def all_steps(self) -> int:
        return self.steps + (self.after.all_steps if self.after else 0)


@dataclass(frozen=True)
class Took:
    """Seconds of wall, and of CPU of all processes, those that stay included; MiB of the largest process; and what the server heard."""

    wall: float
    cpu: float
    memory: float
    heard: Heard
    steps: int


def main() -> None:
    if sys.argv[1:] == ["install"]:
        return install()
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with workshop() as folder, PeerServer() as server:
        runners = list(_runners(folder, server, sys.argv[2:]))
        took: dict[str, list[Took]] = {one.name: [] for one in runners}
        order = random.Random(0)  # noqa: S311 - an order, no secret
        for number in range(rounds + 1):
            for one in order.sample(runners, len(runners)):
                result = _timed(one, folder, server)
                if number:  # the first round warms caches
                    took[one.name].append(result)
        print(f"\n### Write a file, run it, commit ({rounds} rounds)\n\n{_table(took)}")
    return None


def install() -> None:
    """Each agent into a folder of its own under $PEERS, as its registry gives it today."""
    for agent in AGENTS:
        place = _PEERS / agent.name.replace(" ", "-")
        place.mkdir(parents=True, exist_ok=True)
        print(agent.package, file=sys.stderr, flush=True)
        if agent.npm:
            subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(place), agent.package], check=True)
        else:
            subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
            subprocess.run([f"{place}/bin/pip", "install", "--quiet", agent.package], check=True)


def _runners(folder: Path, server: PeerServer, names: Sequence[str]) -> Iterator[Runner]:
    home = _environment(folder / "home")
    yield Runner("shell: write, run, git commit", ("sh", "-c", _FLOOR), home)
    yield Runner("imports only: click, yaml, git", IMPORTS, home)
    where = ("--api-base", f"{server.address('agentctl')}/v1")
    direct, through = (
        ("--model", "openai/mock", *where),
        ("--model", "openai/gpt-4o", *where),
    )  # litellm knows nothing of the one, a price of the other
    for told, model in (("", direct), (", through litellm", through)):
        first = Runner(f"**agentctl step**{told}, the first in a repository", (*AGENTCTL, "step", *model), home, _own(0), cold=True)
        yield first
        yield replace(first, name=f"**agentctl step**{told}, the next one", script=_own(1), cold=False, after=first)
    six = [act for number in range(_STEPS) for act in _own(number)]
    yield Runner("**agentctl run**, one of six steps", (*AGENTCTL, "run", *direct), home, six, _STEPS)
    for agent in (one for one in AGENTS if not names or one.name in names):
        place = _place(agent, folder, server)
        if not Path(agent.argv(place)[0]).exists():
            print(f"{agent.name} is not installed in {_PEERS}", file=sys.stderr)
            continue
        env = {name: value for name, value in _environment(place.home).items() if name not in {"PYTHONPATH", "AGENTCTL_TRUST"}}
        for path, text in agent.files.items():
            (place.home / path).parent.mkdir(parents=True, exist_ok=True)
            (place.home / path).write_text(filled(text, place))
        env |= {"NO_COLOR": "1", "TERM": "dumb"} | {key: filled(value, place) for key, value in agent.env.items()}
        yield Runner(agent.name, tuple(agent.argv(place)), env, agent.script)


def _environment(home: Path) -> dict[str, str]:
    """As `environment`, with a `python3` that is no shim of a version manager: that would be most of what running hello.py takes."""
    env = environment(home)
    return env | {"PATH": f"{Path(sys.executable).resolve().parent}{os.pathsep}{env['PATH']}"}


def _own(number: int) -> list[Act]:
    """What the model says in agentctl's step at the item of that number, which writes a file of its own. The gate runs it, and agentctl commits."""
    path = f"hello{number or ''}.py"
    return [("write", {"path": path, "content": HELLO}), ("finish", _FINISH)]


def _place(agent: Agent, folder: Path, server: PeerServer) -> Place:
    name = agent.name.replace(" ", "-")
    return Place(_PEERS / name, folder / f"home-{name}", server.address(name))


def _timed(runner: Runner, folder: Path, server: PeerServer) -> Took:
    """Run it in a fresh repository. Raises SystemExit where the task was not done."""
    root = _repository(folder / "repo", dict(runner.env), runner.all_steps)
    if runner.after:
        _run(runner.after, root, server)
    return _run(runner, root, server)


def _run(runner: Runner, root: Path, server: PeerServer) -> Took:
    name = "agentctl" if "agentctl" in runner.name else runner.name.replace(" ", "-")
    server.begin(name, [_rooted(act, root) for act in runner.script])
    if runner.cold:
        _end_all(runner.env["HOME"])
    staying = _used_by(runner.env["HOME"])
    with tempfile.TemporaryFile() as said:
        began = time.perf_counter()
        process = subprocess.Popen(runner.argv, cwd=root, env=dict(runner.env), stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        _look(runner, root, said.read().decode(errors="replace"), process.returncode)
    cpu = used.ru_utime + used.ru_stime + _used_by(runner.env["HOME"]) - staying
    heard = server.heard.get(name, Heard())
    return Took(wall / runner.steps, cpu / runner.steps, used.ru_maxrss / 1024, heard, runner.steps)


def _rooted(act: Act, root: Path) -> Act:
    """An act whose `{root}` is the repository: some tools want whole paths."""
    if isinstance(act, str):
        return act
    return act[0], {key: value.replace("{root}", str(root)) for key, value in act[1].items()}


def _look(runner: Runner, root: Path, said: str, code: int) -> None:
    if runner.argv == IMPORTS:
        return
    ran = subprocess.run(["python3", "hello.py"], cwd=root, capture_output=True, check=False).stdout if (root / "hello.py").exists() else b""
    commits = subprocess.run(["git", "rev-list", "--count", "start..HEAD"], cwd=root, capture_output=True, check=True).stdout
    if code != 0 or ran != b"hello, world\n" or int(commits) != runner.all_steps:
        raise SystemExit(f"{runner.name}: exit {code}, {int(commits)} commits, hello.py prints {ran!r}\n{said[-3000:]}")


def _used_by(home: str) -> float:
    """Seconds of CPU that the processes with this HOME, and the children that they have waited for, have used so far."""
    ticks = 0
    for process in _processes(home):
        with suppress(OSError):
            ticks += sum(map(int, (process / "stat").read_text().rpartition(")")[2].split()[11:15]))
    return ticks / _TICKS


def _end_all(home: str) -> None:
    for process in _processes(home):
        with suppress(OSError):
            os.kill(int(process.name), 9)


def _processes(home: str) -> Iterator[Path]:
    """The folders in /proc of those with this HOME."""
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if f"HOME={home}".encode() in environ.read_bytes().split(b"\0"):
                yield environ.parent


def _repository(root: Path, env: dict[str, str], steps: int) -> Path:
    shutil.rmtree(root, ignore_errors=True)
    subprocess.run(["git", "init", "--quiet", str(root)], env=env, check=True)
    for number in range(10):
        (root / f"module{number}.py").write_text(f'"""Module {number}."""\n\n\ndef f{number}(x):\n    return x + {number}\n')
    (root / ".agent/todo").mkdir(parents=True)
    (root / ".agent/config.yaml").write_text(_CONFIG)
    (root / ".agent/goal.md").write_text("Small programs that greet.\n")
    for number in range(steps):
        (root / f".agent/todo/hello-{number}.md").write_text(f"---\norder: {number}\n---\n{_ITEM}")
    for args in (("add", "."), ("commit", "--quiet", "-m", "start"), ("tag", "start")):
        subprocess.run(["git", *args], cwd=root, env=env, check=True)
    return root


def _table(took: Mapping[str, Sequence[Took]]) -> str:
    lines = [
        "| | wall s | CPU s | × imports only (CPU) | memory MiB | model calls | prompt tokens | fixed tokens a call |",
        "|---|---|---|---|---|---|---|---|",
    ]
    base = took["imports only: click, yaml, git"]
    for name, runs in sorted(took.items(), key=lambda one: statistics.median(run.wall for run in one[1])):
        wall, cpu, memory = (statistics.median(values) for values in zip(*((run.wall, run.cpu, run.memory) for run in runs), strict=True))
        ratio = statistics.median(run.cpu / other.cpu for run, other in zip(runs, base, strict=True))
        calls, prompt, fixed = _tokens(runs[-1])
        lines.append(f"| {name} | {wall:.2f} | {cpu:.2f} | {ratio:.1f} | {memory:.0f} | {calls} | {prompt:,} | {fixed:,} |")
    return "\n".join(lines)


def _tokens(took: Took) -> tuple[int, int, int]:
    """Calls for one task, the tokens of all their prompts, and those that are the same at each call of the task: instructions and tools (cl100k_base)."""
    prompts = [sum(count(_text(part)) for part in dialect.prompt(request)) for dialect, request in took.heard.requests]
    fixed = [sum(count(_text(part)) for part in dialect.fixed(request)) for dialect, request in took.heard.requests]
    return len(prompts) // took.steps, sum(prompts) // took.steps, max(fixed, default=0)


def _text(part: object) -> str:
    return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)


if __name__ == "__main__":
    main()
