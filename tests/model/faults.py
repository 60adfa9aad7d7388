"""What may come back in place of a reply, and what agentctl makes of it, whatever the provider."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agent.model.errors import Kind, Reason
from tests.model.chat_server import Answer, as_json, slow, torn
from tests.model.dialects import Dialect


@dataclass(frozen=True)
class Fault:
    """`answer` makes the response; `wait` is what it says of coming back, in seconds; `tries` how often in a row it is worth another one."""

    name: str
    answer: Callable[[Dialect], Answer]
    kind: Kind
    reason: Reason
    wait: float | None = None
    tries: float = math.inf


def _status(status: int, message: str, code: str = "", headers: Mapping[str, str] | None = None) -> Callable[[Dialect], Answer]:
    return lambda dialect: as_json(dialect.failed(status, message, code), status, headers)


def _body(body: bytes, status: int = 200, kind: str = "application/json") -> Callable[[Dialect], Answer]:
    return lambda _: Answer(body, status, {"Content-Type": kind})


_PAGE = b"<html><body>Bad gateway</body></html>"
_LIMITED = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m3s"}

FAULTS = (
    Fault("429", _status(429, "slow down"), Kind.WAIT, Reason.RATE),
    Fault("429 with seconds", _status(429, "slow down", headers={"Retry-After": "2"}), Kind.WAIT, Reason.RATE, 2.0),
    Fault("429 with an hour", _status(429, "slow down", headers={"Retry-After": "3600"}), Kind.WAIT, Reason.RATE, 3600.0),
    Fault("429 with a reset", _status(429, "slow down", headers=_LIMITED), Kind.WAIT, Reason.RATE, 63.0),
    Fault("429 in words", _status(429, "Rate limit reached. Please try again in 1m2.5s."), Kind.WAIT, Reason.RATE, 62.5),
    Fault("429 without a body", _body(b"", 429), Kind.WAIT, Reason.RATE),
    Fault(
        "429 without quota", _status(429, "You exceeded your current quota, please check your plan", "insufficient_quota"), Kind.STOP, Reason.QUOTA
    ),
    Fault("402", _status(402, "pay first"), Kind.STOP, Reason.QUOTA),
    Fault("500", _status(500, "oops"), Kind.WAIT, Reason.OVERLOADED),
    Fault("500 without a body", _body(b"", 500), Kind.WAIT, Reason.OVERLOADED),
    Fault("502 as a page", _body(_PAGE, 502, "text/html"), Kind.WAIT, Reason.OVERLOADED),
    Fault("503", _status(503, "later", headers={"Retry-After": "3"}), Kind.WAIT, Reason.OVERLOADED, 3.0),
    Fault("504", _status(504, "gateway"), Kind.WAIT, Reason.TIMEOUT),
    Fault("408", _status(408, "slow"), Kind.WAIT, Reason.TIMEOUT),
    Fault("529", _status(529, "overloaded", "overloaded_error"), Kind.WAIT, Reason.OVERLOADED),
    Fault("401", _status(401, "Incorrect API key provided"), Kind.STOP, Reason.BAD_KEY),
    Fault("403", _status(403, "not for you"), Kind.STOP, Reason.FORBIDDEN),
    Fault("404", _status(404, "The model does not exist"), Kind.STOP, Reason.UNKNOWN_MODEL),
    Fault("400", _status(400, "'messages' must alternate"), Kind.MEND, Reason.REJECTED),
    Fault("400 without a body", _body(b"", 400), Kind.MEND, Reason.REJECTED),
    Fault("422", _status(422, "no"), Kind.MEND, Reason.REJECTED),
    Fault("too long by code", _status(400, "no", "context_length_exceeded"), Kind.MEND, Reason.TOO_LONG),
    Fault("too long in words", _status(400, "This endpoint's maximum context length is 40960 tokens. Reduce it"), Kind.MEND, Reason.TOO_LONG),
    Fault("413", _status(413, "Request Entity Too Large"), Kind.MEND, Reason.TOO_LONG),
    Fault("413 as a page", _body(_PAGE, 413, "text/html"), Kind.MEND, Reason.TOO_LONG),
    Fault("policy", _status(400, "rejected as a result of our safety system", "content_policy_violation"), Kind.MEND, Reason.FILTERED),
    Fault("reset", lambda dialect: torn(as_json(dialect.said("x", "stop")), -1), Kind.WAIT, Reason.UNREACHABLE),
    Fault("half a body", lambda dialect: torn(as_json(dialect.said("x", "stop")), 20), Kind.WAIT, Reason.UNREACHABLE),
    Fault("no answer in time", lambda dialect: slow(as_json(dialect.said("x", "stop")), 3.0), Kind.WAIT, Reason.TIMEOUT),
    Fault("broken JSON", _body(b'{"id": '), Kind.WAIT, Reason.GARBLED, tries=5),
    Fault("no body", _body(b""), Kind.WAIT, Reason.GARBLED, tries=5),
    Fault("a page", _body(_PAGE, kind="text/html"), Kind.WAIT, Reason.GARBLED, tries=5),
    Fault("no choice", lambda dialect: as_json(dialect.nothing), Kind.MEND, Reason.EMPTY),
    Fault("no content", lambda dialect: as_json(dialect.said(None, "stop")), Kind.MEND, Reason.EMPTY),
    Fault("filtered", lambda dialect: as_json(dialect.said(None, "content_filter")), Kind.MEND, Reason.FILTERED),
)
