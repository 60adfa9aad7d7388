"""What happens as OpenTelemetry traces and logs, sent by OTLP over HTTP; see docs/logs.md.

Names of attributes: the semantic conventions for generative AI (https://opentelemetry.io/docs/specs/semconv/gen-ai/), which are in
development; what they have no name for begins with `agentctl.`. No conversation is sent, only what the log lines hold.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from agent import __version__
from agent.domain.events import Asking, Called, CheckBegan, CheckEnded, Event, Listener, Phase, StepBegan, StepEnded, ToolBegan, ToolEnded, Waiting
from agent.domain.names import Outcome
from agent.domain.usage import Usage
from agent.errors import AgentctlError
from agent.render.logs import Lines

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

# litellm's names of providers, where the conventions have others (attribute gen_ai.provider.name)
_PROVIDERS = {
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "cohere_chat": "cohere",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "vertex_ai": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}


@contextlib.contextmanager
def exported(memory: Callable[[str], str], trouble: Listener) -> Iterator[Listener]:
    """A listener that sends a trace for each step, and a log record for each event, to where OTEL_EXPORTER_OTLP_ENDPOINT and its kind say.

    What is still unsent goes out at the end of the block; `trouble` is told once where it can't be sent. Raises AgentctlError where
    OpenTelemetry isn't installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk._logs import LoggerProvider
        from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise AgentctlError(f"OpenTelemetry isn't installed ({error.name})", "pip install 'agentctl-git[otel]'") from None
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": "agentctl"}
    resource = Resource.create({**named, "service.version": __version__})
    tracers, loggers = TracerProvider(resource=resource), LoggerProvider(resource=resource)
    with _told_once(trouble):
        tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        loggers.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
        trace = _Trace(tracers.get_tracer("agentctl", __version__))
        logger = loggers.get_logger("agentctl", __version__)
        lines = Lines(memory)

        def hear(event: Event) -> None:
            before = trace.context
            trace.hear(event)
            line = lines.line(event)
            if line is not None:  # the end of a step is still told within it
                logger.emit(event_name=f"agentctl.{line['event']}", body=line, context=trace.context or before)

        try:
            yield hear
        finally:
            trace.close()
            tracers.shutdown()
            loggers.shutdown()


@contextlib.contextmanager
def _told_once(trouble: Listener) -> Iterator[None]:
    """While the block lasts OpenTelemetry's own complaints are kept from stderr; the first is told at the end."""
    said: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]  # a class would say no more
    source = logging.getLogger("opentelemetry")
    before, source.propagate = source.propagate, False
    source.addHandler(handler)
    try:
        yield
    finally:
        source.removeHandler(handler)
        source.propagate = before
        if said:
            trouble(Phase("telemetry", f"not all could be sent: {said[0]}"))


class _Trace:
    """Spans: a step, and in it model calls, tools and checks."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._step: Span | None = None
        self._inner: Span | None = None
        self._model: dict[str, str] = {}

    @property
    def context(self) -> Any:
        """The context of what is under way."""
        from opentelemetry.trace import set_span_in_context

        span = self._inner or self._step
        return set_span_in_context(span) if span else None

    def hear(self, event: Event) -> None:
        match event:
            case StepBegan(step, item, model):
                self.close()
                self._model = {"gen_ai.provider.name": _provider(model), "gen_ai.request.model": model.partition("/")[2] or model}
                own = {"gen_ai.agent.name": "agentctl", "gen_ai.conversation.id": step, "agentctl.step": step, "agentctl.item": item}
                self._step = self._begin("invoke_agent agentctl", "invoke_agent", own | self._model)
            case Asking():
                self._inner = self._begin(f"chat {self._model.get('gen_ai.request.model', '')}", "chat", self._model)
            case Called(_, usage, _):
                self._end(_usage(usage), ok=True)
            case ToolBegan(tool, _, _):
                self._inner = self._begin(f"execute_tool {tool}", "execute_tool", {"gen_ai.tool.name": tool, "gen_ai.tool.type": "function"})
            case ToolEnded(_, ok, _, _):
                self._end({} if ok else {"error.type": "tool_error"}, ok=ok)
            case CheckBegan(command, _):
                self._inner = self._begin("check", "", {"agentctl.check.command": command})
            case CheckEnded(_, ok, summary, _):
                self._end({"agentctl.check.summary": summary} | ({} if ok else {"error.type": "check_failed"}), ok=ok)
            case Waiting(seconds, why) if self._inner:
                self._inner.add_event("agentctl.waiting", {"seconds": seconds, "why": why})
            case StepEnded():
                self._ended(event)
            case _:
                pass

    def close(self) -> None:
        """End what is still under way: the step was broken off."""
        self._end({"error.type": "interrupted"}, ok=False)
        if self._step:
            self._inner, self._step = self._step, None
            self._end({"error.type": "interrupted"}, ok=False)

    def _ended(self, event: StepEnded) -> None:
        self._inner, self._step = self._step, None
        landed = event.outcome == Outcome.DONE
        told = {"agentctl.outcome": event.outcome, "agentctl.commit": event.commit, **_usage(event.usage)}
        self._end(told | ({} if landed else {"error.type": event.outcome}), ok=landed)

    def _begin(self, name: str, operation: str, attributes: dict[str, str]) -> Span:
        from opentelemetry.trace import SpanKind

        self._end({}, ok=True)
        kind = SpanKind.CLIENT if operation == "chat" else SpanKind.INTERNAL
        named = {"gen_ai.operation.name": operation} if operation else {}
        return self._tracer.start_span(name, context=self.context, kind=kind, attributes=named | attributes)

    def _end(self, attributes: dict[str, Any], *, ok: bool) -> None:
        from opentelemetry.trace import StatusCode

        span, self._inner = self._inner, None
        if span is not None:
            span.set_attributes(attributes)
            if not ok:
                span.set_status(StatusCode.ERROR)
            span.end()


def _provider(model: str) -> str:
    name = model.partition("/")[0] if "/" in model.partition(":")[0] else model.partition(":")[0]
    return _PROVIDERS.get(name, name)


def _usage(usage: Usage) -> dict[str, Any]:
    """Tokens by the conventions' names, money by ours."""
    told = {
        "gen_ai.usage.input_tokens": usage.input,
        "gen_ai.usage.cache_read.input_tokens": usage.cached,
        "gen_ai.usage.output_tokens": usage.output,
    }
    return told if usage.usd is None else {**told, "agentctl.cost.usd": usage.usd}
