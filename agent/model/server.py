"""The process that holds litellm and the keys: reads one JSON object a line, answers with one, and ends when its input does.

It gets the keys after litellm is loaded, so that what stays warm for the next step (agent/model/keeper.py) has none.
Importing litellm takes seconds, so it happens here while the other side builds a brief. What libraries print goes to stderr, never among the answers.
"""

from __future__ import annotations

import gc
import importlib
import ipaddress
import json
import os
import queue
import select
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import IO, Any
from urllib.parse import urlsplit
from uuid import uuid4

from agent.domain.chat import Reply, ToolCall
from agent.domain.redact import redact
from agent.hidden import hide_own_memory
from agent.model import tokens, wire
from agent.model.errors import Facts, Origin
from agent.model.faults import facts_of
from agent.model.keeper import leave_one_warm
from agent.model.spending import most_tokens, reported, usage_of
from agent.model.warm import Warmth

_QUIET = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # these four: the packaged tables, nothing is fetched
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOCAL_BLOG_POSTS": "True",
    "LITELLM_OFFLINE_MODE": "true",
    "LITELLM_MODE": "PRODUCTION",  # both: a repository's .env is not loaded, it could send the key elsewhere
    "PYTHON_DOTENV_DISABLED": "1",
    "LITELLM_LOG": "ERROR",
    "LITELLM_ENABLE_ANTHROPIC_PROMPT_CACHING": "true",  # Claude caches nothing that isn't marked
}
_LOOK = 50  # milliseconds between two looks whether the import may end
_NO_KEY_NEEDED = "none"  # what local servers get, since the SDK insists on a key


def main() -> None:
    """Load litellm, leave a process warm for the next step where that is wanted, and serve."""
    hide_own_memory()
    channel = _own_the_channel()
    told = json.loads(channel[0].readline() or b"{}")
    with _leaving_with_the_parent(channel[0].fileno()):
        try:
            litellm = _import_litellm()
        except Exception as error:  # noqa: BLE001  # a broken installation is told, whatever breaks
            _send(channel[1], {"broken": f"{type(error).__name__}: {error}"})
            _leave()
    if told.get("warm"):
        leave_one_warm(Warmth(**told["warm"]), lambda: _serve(litellm, *_own_the_channel()), (channel[0].fileno(), channel[1]))
    _serve(litellm, *channel)


def _serve(litellm: Any, incoming: IO[bytes], outgoing: int) -> None:
    """Serve until the input ends; then leave at once, whatever is under way. The first line is the step's own environment, its keys too."""
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(incoming, requests), daemon=True).start()
    _send(outgoing, {"loaded": True})
    _take_over(json.loads(requests.get()))
    _send(outgoing, {"ready": True})
    while True:
        _send(outgoing, _answer(litellm, json.loads(requests.get())))


def _take_over(told: Mapping[str, Any]) -> None:
    os.environ.clear()
    os.environ.update(told["environment"])
    _quiet()
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
    over = threading.Event()
    end = select.poll()
    end.register(incoming, 0)  # nothing but its end

    def watch() -> None:
        while not over.is_set():
            if end.poll(_LOOK):
                _leave()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


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


def _import_litellm() -> Any:
    _quiet()
    gc.disable()  # a third of the import is collecting what stays
    litellm: Any = importlib.import_module("litellm")
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.drop_params = False
    with suppress(Exception), _without_threads():  # asks nobody, but spares the first real call 0.4 s of further imports
        litellm.completion(model="openai/none", messages=[{"role": "user", "content": "-"}], mock_response="-", api_key=_NO_KEY_NEEDED, max_retries=0)
    gc.freeze()
    gc.enable()
    return litellm


def _quiet() -> None:
    os.environ.update(_QUIET)
    if (folder := tokens.vocabulary_folder()) is not None:
        os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)


@contextmanager
def _without_threads() -> Iterator[None]:
    """Let nothing be handed to a pool of threads, which a fork would not take along: litellm has successes logged by one."""
    submit = ThreadPoolExecutor.submit
    ThreadPoolExecutor.submit = lambda *_given, **_more: Future()  # type: ignore[method-assign]
    try:
        yield
    finally:
        ThreadPoolExecutor.submit = submit  # type: ignore[method-assign]


def _answer(litellm: Any, request: Mapping[str, Any]) -> wire.Json:
    try:
        return _VERBS[request["do"]](litellm, request)
    except Exception as error:  # noqa: BLE001  # the process must outlive whatever a provider's adapter does
        facts = facts_of(error)
    key = _key(litellm, request)
    refused = facts.origin is Origin.LIBRARY or facts.status in {401, 403}  # how a missing key shows, by provider
    if key is None and refused and _missing(litellm, request):
        facts = Facts(Origin.NO_KEY)
    return _fault(litellm, request, facts, {"USED_KEY": key or ""})


def _fault(litellm: Any, request: Mapping[str, Any], facts: Facts, secrets: Mapping[str, str]) -> wire.Json:
    keys = (request["key_env"],) if request["key_env"] else _key_names(litellm, request["model"])
    told = replace(facts, keys=keys, address=request["api_base"] or "")
    env = {**os.environ, **secrets}
    return {"fault": wire.facts_to(replace(told, words=redact(told.words, env), address=redact(told.address, env)))}


def _check(litellm: Any, request: Mapping[str, Any]) -> wire.Json:
    """What is sure to fail, without a call."""
    if not _has_provider(litellm, request):
        return _fault(litellm, request, Facts(Origin.NO_PROVIDER), {})
    if _key_is_unset(request) or (_key(litellm, request) is None and _missing(litellm, request)):
        return _fault(litellm, request, Facts(Origin.NO_KEY), {})
    return {"fine": True}


def _complete(litellm: Any, request: Mapping[str, Any]) -> wire.Json:
    """One request, one reply."""
    if not _has_provider(litellm, request):
        return _fault(litellm, request, Facts(Origin.NO_PROVIDER), {})
    if _key_is_unset(request):
        return _fault(litellm, request, Facts(Origin.NO_KEY), {})
    began = time.monotonic()
    response = litellm.completion(
        model=request["model"],
        messages=request["messages"],
        tools=request["tools"] or None,
        max_tokens=request["max_output"],
        timeout=request["timeout"],
        api_base=request["api_base"],
        api_key=_key(litellm, request),
        max_retries=0,
        num_retries=0,
        stream=False,
    )
    return _read_response(litellm, request, response, time.monotonic() - began)


def _read_response(litellm: Any, request: Mapping[str, Any], response: Any, seconds: float) -> wire.Json:
    choice = response.choices[0] if response.choices else None
    message = choice.message if choice else None
    text = (message.content if message else None) or ""
    calls = tuple(_call(call) for call in (message.tool_calls if message else None) or ())
    finish = (choice.finish_reason if choice else None) or "stop"
    most = most_tokens(request)
    if (reported(response, "completion_tokens", most) or 0) >= request["max_output"]:
        finish = "length"  # some servers say "stop" or "tool_calls" of a reply that was cut off
    usage = usage_of(litellm, response, request, text + "".join(call.name + call.args for call in calls), most, seconds)
    if not text and not calls and finish != "length":
        origin = Origin.FILTERED if finish == "content_filter" else Origin.EMPTY
        return _fault(litellm, request, Facts(origin, spent=usage), {})
    return {"reply": wire.reply_to(Reply(text, calls, usage, finish))}


def _call(call: Any) -> ToolCall:
    """Servers leave out ids, and send no text at all where there are no arguments."""
    return ToolCall(id=call.id or f"call_{uuid4().hex}", name=call.function.name or "", args=call.function.arguments or "{}")


def _has_provider(litellm: Any, request: Mapping[str, Any]) -> bool:
    try:
        litellm.get_llm_provider(model=request["model"], api_base=request["api_base"])
    except Exception:  # noqa: BLE001  # it raises a BadRequestError of its own making, and more
        return False
    return True


def _key(litellm: Any, request: Mapping[str, Any]) -> str | None:
    """The key to send: the person's variable, else None where litellm finds the provider's own, else a stopgap for local servers."""
    if request["key_env"]:
        return os.environ.get(request["key_env"])
    if request["api_base"] and _is_near(request["api_base"]) and _missing(litellm, request):
        return _NO_KEY_NEEDED
    return None


def _key_is_unset(request: Mapping[str, Any]) -> bool:
    return bool(request["key_env"]) and not os.environ.get(request["key_env"])


def _missing(litellm: Any, request: Mapping[str, Any]) -> tuple[str, ...]:
    """Key variables that the model's provider wants and that aren't set. Incomplete: litellm accepts more names than it tells of."""
    report = litellm.validate_environment(request["model"], api_base=request["api_base"])
    return tuple(name for name in report["missing_keys"] if "KEY" in name or "TOKEN" in name)


def _key_names(litellm: Any, model: str) -> tuple[str, ...]:
    """The key variables of the model's provider, set or not."""
    kept = dict(os.environ)
    os.environ.clear()
    try:
        return _missing(litellm, {"model": model, "api_base": None})
    finally:
        os.environ.update(kept)


def _is_near(address: str) -> bool:
    """This machine, a private network, or a name without a dot, as containers have."""
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local", ".internal"))


_VERBS = {"complete": _complete, "check": _check}

if __name__ == "__main__":
    main()
