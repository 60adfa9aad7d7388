"""`--otel`: traces and logs to a real OTLP/HTTP receiver on loopback."""

from __future__ import annotations

import gzip
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.project import ADDS, Project, call, finish, reply

logs_pb = pytest.importorskip("opentelemetry.proto.collector.logs.v1.logs_service_pb2", reason="the extra `otel` isn't installed")
traces_pb = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2", reason="the extra `otel` isn't installed")


class Receiver:
    """What came in, by path."""

    def __init__(self) -> None:
        self.bodies: dict[str, list[bytes]] = {}
        bodies = self.bodies

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                bodies.setdefault(self.path, []).append(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def spans(self) -> list[Any]:
        requests = [traces_pb.ExportTraceServiceRequest.FromString(body) for body in self.bodies.get("/v1/traces", [])]
        return [span for request in requests for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans]

    @property
    def records(self) -> list[Any]:
        requests = [logs_pb.ExportLogsServiceRequest.FromString(body) for body in self.bodies.get("/v1/logs", [])]
        return [record for request in requests for resource in request.resource_logs for scope in resource.scope_logs for record in scope.log_records]


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    running = Receiver()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{running.server.server_port}")
    yield running
    running.server.shutdown()
    running.server.server_close()


def attributes(span: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


@pytest.fixture
def one(project: Project) -> Project:
    project.items("First")
    project.record({"first": [[reply(call("run", command="echo hi"), text="Secret words.", usage=(1000, 400, 50)), reply(ADDS, finish())]]})
    return project


def test_a_step_is_a_trace_with_the_conventions_names(one: Project, receiver: Receiver) -> None:
    ran = one.agentctl("step", "--otel", "--json")
    assert ran.code == 0, ran.err
    spans = receiver.spans
    (step,) = [span for span in spans if span.name == "invoke_agent agentctl"]
    told = attributes(step)
    assert (told["gen_ai.operation.name"], told["gen_ai.agent.name"], told["gen_ai.conversation.id"]) == (
        "invoke_agent",
        "agentctl",
        ran.json["step"],
    )
    assert (told["gen_ai.usage.input_tokens"], told["agentctl.cost.usd"], told["agentctl.outcome"]) == (2000, 0.02, "done")
    assert {span.trace_id for span in spans} == {step.trace_id}
    assert {span.parent_span_id for span in spans if span is not step} == {step.span_id}
    chats = [attributes(span) for span in spans if span.name.startswith("chat ")]
    assert [chat["gen_ai.usage.input_tokens"] for chat in chats] == [1000, 1000]
    assert chats[0]["gen_ai.usage.cache_read.input_tokens"] == 400
    assert {chat["gen_ai.operation.name"] for chat in chats} == {"chat"}
    tools = [attributes(span)["gen_ai.tool.name"] for span in spans if span.name.startswith("execute_tool ")]
    assert tools == ["run", "edit", "finish"]
    checks = [attributes(span)["agentctl.check.command"] for span in spans if span.name == "check"]
    assert len(checks) >= 2  # before the step, and in the gate
    assert set(checks) == {"sh check.sh"}


def test_each_event_is_a_log_record_within_its_span(one: Project, receiver: Receiver) -> None:
    one.agentctl("step", "--otel")
    records = receiver.records
    names = [record.event_name for record in records]
    assert names[0] == "agentctl.step_began"
    assert names[-1] == "agentctl.step_ended"
    assert {"agentctl.called", "agentctl.tool_began", "agentctl.check_ended"} <= set(names)
    (step,) = [span for span in receiver.spans if span.name == "invoke_agent agentctl"]
    assert {record.trace_id for record in records} == {step.trace_id}
    bodies = {one.key: one.value for one in records[-1].body.kvlist_value.values}
    assert bodies["outcome"].string_value == "done"


def test_a_step_that_is_broken_off_ends_its_spans_as_errors(project: Project, receiver: Receiver) -> None:
    project.items("First")
    project.record({"another": [[reply(ADDS)]]})  # so there is no reply
    assert project.agentctl("step", "--otel").code != 0
    (step,) = [span for span in receiver.spans if span.name == "invoke_agent agentctl"]
    assert (attributes(step)["error.type"], step.status.code) == ("interrupted", 2)


def test_a_receiver_that_is_gone_costs_no_step_and_is_told_once(one: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    ran = one.agentctl("step", "--otel")
    assert ran.code == 0
    assert ran.err.count("telemetry: not all could be sent") == 1


def test_without_the_flag_nothing_is_sent_or_imported(one: Project, receiver: Receiver) -> None:
    assert one.agentctl("step").code == 0
    assert receiver.bodies == {}


def test_without_the_extra_it_is_said_what_to_type(one: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http._log_exporter", None)
    ran = one.agentctl("step", "--otel")
    assert (ran.code, "pip install 'agentctl-git[otel]'" in ran.err) == (1, True)
