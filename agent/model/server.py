"""The process that makes the calls and holds the keys: reads one JSON object a line, answers with one, and ends when its input does.

It gets the keys after litellm is loaded, so that what stays warm for the next step (agent/model/keeper.py) has none.
Importing litellm takes seconds, so it happens here while the other side builds a brief. What libraries print goes to stderr, never among the answers.
"""

from __future__ import annotations

import importlib
import json
import os
import queue
import select
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, Any

from agent.hidden import hide_own_memory
from agent.model import wire
from agent.model.caller import Caller, fault
from agent.model.errors import Facts, Origin
from agent.model.process import DIRECT, LITELLM

_CALLERS = {LITELLM: ("agent.model.through_litellm", "ThroughLitellm"), DIRECT: ("agent.model.direct", "Direct")}


def main() -> None:
    """Make ready whoever makes the calls (most often: load litellm), leave a process warm for the next step where that is wanted, and serve."""
    hide_own_memory()
    channel = _own_the_channel()
    told = json.loads(channel[0].readline() or b"{}")
    with _leaving_with_the_parent(channel[0].fileno()):
        try:
            caller = _caller(told["caller"])
        except Exception as error:  # noqa: BLE001  # a broken installation is told, whatever breaks
            _send(channel[1], {"broken": f"{type(error).__name__}: {error}"})
            _leave()
    if told.get("warm"):
        from agent.model.keeper import leave_one_warm  # noqa: PLC0415  # as with the callers: a process pays for its own way only
        from agent.model.warm import Warmth  # noqa: PLC0415

        leave_one_warm(Warmth(**told["warm"]), lambda: _serve(caller, *_own_the_channel()), (channel[0].fileno(), channel[1]))
    _serve(caller, *channel)


def serve(caller: str) -> None:
    """Serve in a fork of agentctl itself, whose streams are the channel."""
    hide_own_memory()
    channel = _own_the_channel()
    _serve(_caller(caller), *channel)


def _caller(name: str) -> Caller:
    module, maker = _CALLERS[name]
    made: Caller = getattr(importlib.import_module(module), maker)()
    return made


def _serve(caller: Caller, incoming: IO[bytes], outgoing: int) -> None:
    """Serve until the input ends; then leave at once, whatever is under way. The first line is the step's own environment, its keys too."""
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(incoming, requests), daemon=True).start()
    _send(outgoing, {"loaded": True})
    _take_over(json.loads(requests.get()), caller)
    _send(outgoing, {"ready": True})
    while True:
        _send(outgoing, _answer(caller, json.loads(requests.get())))


def _answer(caller: Caller, request: Mapping[str, Any]) -> wire.Json:
    try:
        return caller.check(request) if request["do"] == "check" else caller.complete(request)
    except Exception as error:  # noqa: BLE001  # ours, then: the process must outlive it
        return fault(request, Facts(Origin.INSIDE, f"{type(error).__name__}: {error}"))


def _take_over(told: Mapping[str, Any], caller: Caller) -> None:
    os.environ.clear()
    os.environ.update(told["environment"])
    caller.keep_quiet()
    with suppress(OSError):
        os.chdir(told["folder"])


def _own_the_channel() -> tuple[IO[bytes], int]:
    """Keep stdin and stdout for the protocol and give the libraries /dev/null and stderr instead."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(incoming, "rb"), outgoing


@contextmanager
def _leaving_with_the_parent(incoming: int) -> Iterator[None]:
    """Leave when the other end of `incoming` is closed, even in the middle of an import. No thread is left behind."""
    over, done = os.pipe()
    ends = select.poll()
    for end in (incoming, over):
        ends.register(end, 0)  # nothing but its end

    def watch() -> None:
        if any(end == incoming for end, _ in ends.poll()):
            _leave()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        os.close(done)
        watcher.join()
        os.close(over)


def _read(incoming: IO[bytes], requests: queue.SimpleQueue[bytes]) -> None:
    with incoming as lines:
        for line in lines:
            requests.put(line)
    _leave()


def _leave() -> None:
    """Past the interpreter's teardown, which takes a second with litellm loaded. Answers are flushed when they are sent."""
    os._exit(0)


def _send(outgoing: int, answer: Mapping[str, Any]) -> None:
    try:
        with os.fdopen(outgoing, "wb", closefd=False) as channel:
            channel.write(b"\n" + json.dumps(answer).encode() + b"\n")
    except OSError:
        _leave()  # nobody listens any more


if __name__ == "__main__":
    main()
