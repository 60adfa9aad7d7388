"""The model behind a process of its own, which may hang, spin or die without taking a step along."""

from __future__ import annotations

import json
import os
import re
import selectors
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from msgspec.structs import asdict, replace

from agent.domain.chat import Reply, Request
from agent.domain.price import Price
from agent.domain.redact import redact
from agent.model import wire
from agent.model.errors import Facts, Origin, error_for
from agent.model.price import CAREFUL, is_known, limits_of, price_of
from agent.model.process import DIRECT, LITELLM, Parted, Process, Spawned, is_alone
from agent.model.protocol import Closing, Endpoint, Limits, Model, Task
from agent.model.warm import Warmth, apart, fork_from, warmth_for

CALL_LIMIT = 600.0
"""Seconds that one call may take."""

START_LIMIT = 180.0
"""Seconds that the process may take to import litellm: 4 of CPU, more on a busy or cold machine."""

_GRACE = 10.0  # seconds beyond the call's own limit, which the process keeps itself unless it hangs
LONGEST_CALL = START_LIMIT + CALL_LIMIT + _GRACE
"""Seconds after which a call is over, whatever hangs."""

_OPENAIS_OWN = re.compile(r"(?:ft:)?(?:gpt|chatgpt|o\d|codex|computer-use)", re.IGNORECASE)
_CHATTER = 8_192  # bytes of what libraries printed, kept for the message about a crash


def open_client(name: str, *, endpoint: Endpoint, task: Task, root: Path) -> Model:  # noqa: ARG001  # the openers' common shape
    """The model called `name`, over the network. Returns at once, while its process gets ready."""
    return ClientModel(name, endpoint, child_for(caller_for(name, endpoint)), price=task.price)


def child_for(caller: str) -> Child:
    """A process in which `caller` makes the calls. Only litellm is worth keeping warm."""
    return Child(caller=caller, warmth=warmth_for(os.environ) if caller == LITELLM else None)


def caller_for(name: str, endpoint: Endpoint) -> str:
    """Who makes the calls: litellm, but for a model that it would only pass on.

    That is one at an address of the person's own that speaks OpenAI's protocol, which no table knows and whose name is none of OpenAI's own kind:
    there litellm asks for some things otherwise.
    """
    family, _, model = name.partition("/")
    plain = family == "openai" and endpoint.api_base and model and not is_known(name) and not _OPENAIS_OWN.match(model)
    return DIRECT if plain else LITELLM


def _serve_directly() -> None:
    from agent.model.server import serve  # noqa: PLC0415  # what it imports is the fork's

    serve(DIRECT)


class ChildError(Exception):
    """The process is gone, and why."""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts.words)
        self.facts = facts


class Child:
    """The process. Started at once and not waited for; started anew by the next `ask` after it died or was ended for hanging.

    Where one is warm, it is forked from that; else it leaves one warm, if there is a `warmth`. What asks directly is forked from here, if that can be.
    """

    def __init__(
        self, env: Mapping[str, str] | None = None, *, start_limit: float = START_LIMIT, warmth: Warmth | None = None, caller: str = LITELLM
    ) -> None:
        self._env = dict(os.environ if env is None else env)
        self._start_limit = start_limit
        self._warmth = warmth
        self._caller = caller
        self._trusts_warm = True
        self._ready = False
        self._received = bytearray()
        self._chatter = bytearray()
        self._process: Process | None = None
        with suppress(OSError):  # `ask` tries again, and tells
            self._process = self._start()

    @property
    def pid(self) -> int | None:
        """The process id, which is its group's and session's too; None when there is none."""
        return self._process.pid if self._process else None

    def ask(self, request: wire.Json, limit: float) -> wire.Json:
        """The answer to one request, within `limit` seconds beyond the start. Raises ChildError, and nothing is left running then."""
        try:
            if self._process is None:
                self._process = self._start()
            if not self._ready:
                self._await_ready()
            answer: wire.Json = json.loads(self._exchange(json.dumps(request).encode() + b"\n", limit))
            return answer
        except OSError as error:
            self._give_up()
            raise ChildError(Facts(Origin.INSIDE, self._safe(f"its process cannot be run: {error}"), sent=self._ready)) from error
        except ChildError as error:
            self._give_up()
            raise ChildError(replace(error.facts, sent=self._ready)) from None
        except BaseException:  # Ctrl-C too: an answer that comes too late would be taken for the next one's
            self.close()
            raise

    def _give_up(self) -> None:
        self._trusts_warm = False  # whatever was wrong, the next one is started from nothing
        self.close()

    def close(self) -> None:
        """End the process and whatever it started. May be called twice."""
        process, self._process = self._process, None
        if process is not None:
            process.end()

    def _start(self) -> Process:
        self._ready = False
        self._received.clear()
        self._chatter.clear()
        if self._warmth and self._trusts_warm and (forked := fork_from(self._warmth)):
            return forked
        if self._caller == DIRECT and is_alone():
            return Parted(_serve_directly)
        return Spawned(apart(self._env)[0], {"caller": self._caller, "warm": self._warmth and asdict(self._warmth)})

    def _await_ready(self) -> None:
        """Read up to the greeting, and hand over what the step knows. What comes before was printed by something that runs at every start of Python."""
        deadline = time.monotonic() + self._start_limit
        outgoing = b""
        while not self._ready:
            line = self._exchange(outgoing, deadline - time.monotonic())
            outgoing = b""
            if line.startswith(b'{"broken": '):
                raise ChildError(Facts(Origin.INSIDE, f"litellm cannot be imported ({self._safe(json.loads(line)['broken'])})"))
            if line.startswith(b'{"loaded": '):
                outgoing = json.dumps({"environment": self._env, "folder": str(Path.cwd())}).encode() + b"\n"
            self._ready = line.startswith(b'{"ready": ')

    def _exchange(self, outgoing: bytes, limit: float) -> bytes:
        """Write all of `outgoing` and read one line that isn't empty, while keeping stderr from filling up."""
        assert self._process is not None  # noqa: S101  # `ask` started it
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        deadline = time.monotonic() + limit
        rest = memoryview(outgoing)
        with selectors.DefaultSelector() as pipes:
            pipes.register(stdout, selectors.EVENT_READ)
            pipes.register(stderr, selectors.EVENT_READ)
            if rest:
                pipes.register(stdin, selectors.EVENT_WRITE)
            while (line := self._line()) is None:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise ChildError(Facts(Origin.TIMEOUT, f"nothing within {limit:g} s"))
                for pipe in [key.fileobj for key, _ in pipes.select(left)]:
                    if pipe is stdin:
                        rest = self._write(stdin, rest)
                        if not rest:
                            pipes.unregister(stdin)
                    elif pipe is stdout:
                        self._read(stdout)
                    elif not self._listen(stderr):
                        pipes.unregister(stderr)
        return line

    def _line(self) -> bytes | None:
        while b"\n" in self._received:
            line, _, self._received = self._received.partition(b"\n")
            if line:
                return bytes(line)
        return None

    def _write(self, stdin: IO[bytes], rest: memoryview) -> memoryview:
        try:
            return rest[os.write(stdin.fileno(), rest) :]
        except BrokenPipeError:
            raise self._died() from None

    def _read(self, stdout: IO[bytes]) -> None:
        data = os.read(stdout.fileno(), 1 << 16)
        if not data:
            raise self._died()
        self._received += data

    def _listen(self, stderr: IO[bytes]) -> bool:
        data = os.read(stderr.fileno(), 1 << 16)
        self._chatter += data
        del self._chatter[:-_CHATTER]
        return bool(data)

    def _died(self) -> ChildError:
        process = self._process
        assert process is not None  # noqa: S101  # it has just been spoken to
        with suppress(BlockingIOError, OSError):
            self._listen(process.stderr)
        status = process.end()
        how = "nobody saw how" if status is None else f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        last = self._safe(self._chatter.decode("utf-8", "replace")).strip().splitlines()
        origin = (
            Origin.DIED if self._ready or status is None or status < 0 else Origin.INSIDE
        )  # what ends by itself before it is ready will do so again
        return ChildError(Facts(origin, f"its process ended ({how})" + (f": {last[-1]}" if last else "")))

    def _safe(self, text: str) -> str:
        return redact(text, self._env)


class ClientModel(Closing):
    """A model reached through `child`. `limit` in seconds for one call; a `price` that is given stands in for litellm's."""

    def __init__(self, name: str, endpoint: Endpoint, child: Child, *, limit: float = CALL_LIMIT, price: Price | None = None) -> None:
        self._name = name
        self._endpoint = endpoint
        self._child = child
        self._limit = limit
        self._price = price

    @property
    def name(self) -> str:
        return self._name

    @property
    def limits(self) -> Limits:
        return limits_of(self._name) or CAREFUL

    @property
    def price(self) -> Price | None:
        return self._price or price_of(self._name)

    def check(self) -> None:
        self._ask({"do": "check"})

    def complete(self, request: Request) -> Reply:
        price = asdict(self._price) if self._price else None
        answer = self._ask({"do": "complete", "max_output": request.max_output, "timeout": self._limit, "price": price, **wire.chat_of(request)})
        return wire.reply_from(answer["reply"])

    def close(self) -> None:
        self._child.close()

    def _ask(self, request: dict[str, Any]) -> wire.Json:
        where = {"model": self._name, "api_base": self._endpoint.api_base, "key_env": self._endpoint.key_env}
        try:
            answer = self._child.ask(request | where, self._limit + _GRACE)
        except ChildError as error:
            raise error_for(self._name, error.facts) from None
        if "fault" in answer:
            facts = wire.facts_from(answer["fault"])
            late = facts.origin is Origin.TIMEOUT
            raise error_for(self._name, replace(facts, words=f"nothing within {self._limit:g} s") if late else facts)
        return answer
