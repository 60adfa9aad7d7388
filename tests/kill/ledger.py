"""Ends agentctl by SIGKILL around its model calls, which a server on loopback answers and counts, and holds the ledger to the server's count.

It doesn't import agentctl. As a command: `python -m tests.kill.ledger KILLS [SEED]`.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.kill.world import World
from tests.model.chat_server import Answer, ChatServer, calls

_FIRST = 1000  # tokens of the first prompt; each later one has one more, which tells the answers apart
_PATIENCE = 120.0  # seconds until a call comes: the model's process imports for a while


@dataclass
class Counted:
    """What came of it: `lost` are the requests (by number, from 0) of which the ledger holds nothing, `last` those after which it was killed."""

    requests: int = 0
    ledger: int = 0
    holds: int = 0
    lost: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def _answers(count: int) -> list[Answer]:
    """Whoever begins with any of these gets on: two files, then the end of the step."""
    made = []
    for number in range(count):
        usage = {"prompt_tokens": _FIRST + number, "completion_tokens": 5, "total_tokens": _FIRST + number + 5}
        wanted = ("write", {"path": f"{number}.txt", "content": f"{number}\n"})
        if number % 3 == 2:
            wanted = ("finish", {"note": f"Files were written up to number {number}.", "letter": f"After {number} comes the next."})
        made.append(calls(wanted, usage=usage))
    return made


def counted(folder: Path, kills: int, seed: int) -> Counted:
    """Work off a list through `kills` kills, each shortly after a request has come, and compare."""
    chance = random.Random(seed)  # noqa: S311 - the same moments again for the same seed
    world = World(folder)
    found = Counted()
    with ChatServer() as server:
        server.says(*_answers(1000 + 20 * kills))
        for _ in range(kills):
            if not _killed(world, server, len(server.requests) + chance.randint(1, 2), chance.uniform(0, 0.05)):
                break
            found.last.append(len(server.requests) - 1)
        ended = _start(world, server)
        said = ended.communicate()[1].decode()
        if ended.returncode not in (0, 3):
            found.faults.append(f"exit {ended.returncode}: {said}")
        found.requests = len(server.requests)
    private = world.root / ".git" / "agentctl"
    prompts = [json.loads(line)["input"] - _FIRST for line in (private / "ledger.jsonl").read_text().splitlines()]
    found.ledger, found.holds = len(prompts), len(list((private / "holds").glob("*.json")))
    found.lost = sorted(set(range(found.requests)) - set(prompts))
    found.faults += [*_wrong(found, prompts), *world.untouched(), *world.unsound(), *world.leftovers()]
    return found


def _wrong(found: Counted, prompts: list[int]) -> list[str]:
    faults = []
    if len(set(prompts)) != len(prompts):
        faults.append(f"calls are in the ledger twice: {prompts}")
    read = set(found.lost) - set(found.last)
    if read:
        faults.append(f"calls whose answers were acted on are not in the ledger: {sorted(read)}")
    if not len(found.lost) <= found.holds <= len(found.last):
        faults.append(f"{len(found.lost)} calls are not in the ledger, {found.holds} holds stand, after {len(found.last)} kills")
    return faults


def _start(world: World, server: ChatServer) -> subprocess.Popen[bytes]:
    environment = {
        **world.environment,
        "AGENTCTL_MODEL": "openai/gpt-4o-2024-08-06",
        "AGENTCTL_API_BASE": server.url,
        "OPENAI_API_KEY": "sk-test-0123456789abcdef0123456789abcdef",
    }
    return subprocess.Popen(
        world.command("run"), cwd=world.root, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )


def _killed(world: World, server: ChatServer, requests: int, after: float) -> bool:
    """Kill a run's whole group `after` seconds after that many requests have come; False where it ended by itself."""
    process = _start(world, server)
    deadline = time.monotonic() + _PATIENCE
    while len(server.requests) < requests and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    time.sleep(after)
    if process.poll() is not None:
        process.communicate()
        return False
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return True


def main() -> int:
    kills, seed = int(sys.argv[1]), int([*sys.argv, "1"][2])
    done, wrong = 0, 0
    while done < kills:
        with tempfile.TemporaryDirectory(prefix="agentctl-ledger-") as folder:
            found = counted(Path(folder), min(6, kills - done), seed)
        done, seed = done + len(found.last), seed + 1
        wrong += bool(found.faults)
        for fault in found.faults:
            sys.stdout.write(f"FAULT (seed {seed - 1}): {fault}\n")
        told = f"{found.requests} requests, {found.ledger} in the ledger, {found.holds} holds"
        sys.stdout.write(f"{done} kills: {told}\n")
        sys.stdout.flush()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
