"""Calls through litellm, which knows how each provider wants to be asked."""

from __future__ import annotations

import gc
import importlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

from agent.domain.chat import ToolCall
from agent.model import tokens, wire
from agent.model.caller import NO_KEY_NEEDED, Completion, fault, is_near, key_is_unset, told, tool_call
from agent.model.errors import Facts, Origin
from agent.model.faults import facts_of
from agent.model.spending import Counts, usd_of

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


class ThroughLitellm:
    """A caller that has litellm loaded. Raises whatever a broken installation raises when it is made."""

    def __init__(self) -> None:
        self._litellm = _imported()

    def keep_quiet(self) -> None:
        _keep_quiet()

    def check(self, request: Mapping[str, Any]) -> wire.Json:
        return self._safely(self._check, request)

    def complete(self, request: Mapping[str, Any]) -> wire.Json:
        return self._safely(self._complete, request)

    def _safely(self, verb: Callable[[Mapping[str, Any]], wire.Json], request: Mapping[str, Any]) -> wire.Json:
        try:
            return verb(request)
        except Exception as error:  # noqa: BLE001  # the process must outlive whatever a provider's adapter does
            facts = facts_of(error)
        key = self._key(request)
        refused = facts.origin is Origin.LIBRARY or facts.status in {401, 403}  # how a missing key shows, by provider
        if key is None and refused and self._missing(request):
            facts = Facts(Origin.NO_KEY)
        return self._fault(request, facts, key or "")

    def _check(self, request: Mapping[str, Any]) -> wire.Json:
        if not self._has_provider(request):
            return self._fault(request, Facts(Origin.NO_PROVIDER))
        if key_is_unset(request) or (self._key(request) is None and self._missing(request)):
            return self._fault(request, Facts(Origin.NO_KEY))
        return {"fine": True}

    def _complete(self, request: Mapping[str, Any]) -> wire.Json:
        if not self._has_provider(request):
            return self._fault(request, Facts(Origin.NO_PROVIDER))
        if key_is_unset(request):
            return self._fault(request, Facts(Origin.NO_KEY))
        began = time.monotonic()
        response = self._litellm.completion(
            model=request["model"],
            messages=request["messages"],
            tools=request["tools"] or None,
            max_tokens=request["max_output"],
            timeout=request["timeout"],
            api_base=request["api_base"],
            api_key=self._key(request),
            max_retries=0,
            num_retries=0,
            stream=False,
        )

        def cost(counts: Counts) -> float | None:
            return usd_of(self._litellm, response, request["model"], counts)

        return told(request, _read(response), time.monotonic() - began, cost)

    def _fault(self, request: Mapping[str, Any], facts: Facts, secret: str = "") -> wire.Json:
        return fault(request, facts, self._key_names(request["model"]), secret)

    def _has_provider(self, request: Mapping[str, Any]) -> bool:
        try:
            self._litellm.get_llm_provider(model=request["model"], api_base=request["api_base"])
        except Exception:  # noqa: BLE001  # it raises a BadRequestError of its own making, and more
            return False
        return True

    def _key(self, request: Mapping[str, Any]) -> str | None:
        """The key to send: the person's variable, else None where litellm finds the provider's own, else a stopgap for local servers."""
        if request["key_env"]:
            return os.environ.get(request["key_env"])
        if request["api_base"] and is_near(request["api_base"]) and self._missing(request):
            return NO_KEY_NEEDED
        return None

    def _missing(self, request: Mapping[str, Any]) -> tuple[str, ...]:
        """Key variables that the model's provider wants and that aren't set. Incomplete: litellm accepts more names than it tells of."""
        report = self._litellm.validate_environment(request["model"], api_base=request["api_base"])
        return tuple(name for name in report["missing_keys"] if "KEY" in name or "TOKEN" in name)

    def _key_names(self, model: str) -> tuple[str, ...]:
        """The key variables of the model's provider, set or not."""
        kept = dict(os.environ)
        os.environ.clear()
        try:
            return self._missing({"model": model, "api_base": None})
        finally:
            os.environ.update(kept)


def _keep_quiet() -> None:
    """Set what litellm and tiktoken read from the environment, so that nothing is fetched, and no .env is read."""
    os.environ.update(_QUIET)
    if (folder := tokens.vocabulary_folder()) is not None:
        os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)


def _read(response: Any) -> Completion:
    choice = response.choices[0] if response.choices else None
    message = choice.message if choice else None
    calls = tuple(_call(call) for call in (message.tool_calls if message else None) or ())
    return Completion(
        (message.content if message else None) or "", calls, (choice.finish_reason if choice else None) or "", getattr(response, "usage", None)
    )


def _call(call: Any) -> ToolCall:
    return tool_call(call.id, call.function.name, call.function.arguments)


def _imported() -> Any:
    _keep_quiet()
    gc.disable()  # a third of the import is collecting what stays
    litellm: Any = importlib.import_module("litellm")
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.drop_params = False
    with suppress(Exception), _without_threads():  # asks nobody, but spares the first real call 0.4 s of further imports
        litellm.completion(model="openai/none", messages=[{"role": "user", "content": "-"}], mock_response="-", api_key=NO_KEY_NEEDED, max_retries=0)
    gc.freeze()
    gc.enable()
    return litellm


@contextmanager
def _without_threads() -> Iterator[None]:
    """Let nothing be handed to a pool of threads, which a fork would not take along: litellm has successes logged by one."""
    submit = ThreadPoolExecutor.submit
    ThreadPoolExecutor.submit = lambda *_given, **_more: Future()  # type: ignore[method-assign]
    try:
        yield
    finally:
        ThreadPoolExecutor.submit = submit  # type: ignore[method-assign]
