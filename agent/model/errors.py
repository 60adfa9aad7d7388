"""What goes wrong with a model, as one error type and one table.

litellm's class names say little: a refused connection and a missing key both come as InternalServerError, a request that is too large as RateLimitError.
So the table reads facts: whether anything answered, the HTTP status, the provider's code and words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct

from agent.domain.usage import NOTHING, Usage
from agent.errors import AgentctlError, Exit


class Kind(StrEnum):
    """What helps: waiting, another request, a person, or a mend of our code."""

    WAIT = "wait"
    MEND = "mend"
    STOP = "stop"
    BUG = "bug"


class Reason(StrEnum):
    """What happened, one for each row of the table."""

    NO_KEY = "no key"
    BAD_KEY = "bad key"
    FORBIDDEN = "forbidden"
    UNKNOWN_MODEL = "unknown model"
    QUOTA = "quota"
    TOO_LONG = "too long"
    FILTERED = "filtered"
    REJECTED = "rejected"
    EMPTY = "empty"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    RATE = "rate"
    OVERLOADED = "overloaded"
    GARBLED = "garbled"
    DIED = "died"
    RECORDING = "recording"
    BROKEN = "broken"


class Origin(StrEnum):
    """Where the trouble was seen."""

    ANSWER = "answer"  # the provider answered with an error
    LIBRARY = "library"  # litellm made an error and a status up itself: a missing key, an answer that is no JSON, …
    CONNECTION = "connection"  # nothing answered
    TIMEOUT = "timeout"  # it took too long
    EMPTY = "empty"  # a whole answer with nothing in it
    FILTERED = "filtered"  # an answer that the provider's filter emptied
    NO_KEY = "no key"  # no key to send
    NO_PROVIDER = "no provider"  # the name tells no provider
    DIED = "died"  # the process that asks the provider ended before it answered
    INSIDE = "inside"  # something of ours or litellm's broke


class Facts(Struct, frozen=True):
    """What is known of a failure.

    `words` is the provider's, one line and redacted; `keys` names the variables that hold the key; `address` is the endpoint that the person set;
    `retry_after` in seconds; `spent` is what the call cost all the same; `sent` is False where the request surely never reached the provider.
    """

    origin: Origin
    words: str = ""
    status: int | None = None
    code: str = ""
    retry_after: float | None = None
    keys: tuple[str, ...] = ()
    address: str = ""
    spent: Usage = NOTHING
    sent: bool = True


class ModelError(AgentctlError):
    """A call that brought no usable reply.

    `retry_after` in seconds, where the provider gave one; `tries` is how often in a row waiting is worth it; `spent` is what the call cost all the same;
    `unsure`: nobody said what became of the request, so the provider may charge for it.
    """

    def __init__(
        self,
        message: str,
        hint: str = "",
        code: Exit = Exit.ERROR,
        *,
        kind: Kind,
        reason: Reason,
        retry_after: float | None = None,
        tries: float = math.inf,
        spent: Usage = NOTHING,
        unsure: bool = False,
    ) -> None:
        super().__init__(message, hint, code)
        self.kind = kind
        self.reason = reason
        self.retry_after = retry_after
        self.tries = tries
        self.spent = spent
        self.unsure = unsure


def error_for(name: str, facts: Facts) -> ModelError:
    """The error for a failed call of model `name`: the first row of the table that fits."""
    row = next(row for row in _TABLE if row.fits(facts))
    words = {
        "name": name,
        "keys": " and ".join(facts.keys) or "the key's variable",
        "key": facts.keys[-1] if facts.keys else "PROVIDER_API_KEY",
        "where": f" at {facts.address}" if facts.address else "",
    }
    said = f": {_short(facts)}" if row.quote and _short(facts) else ""
    return ModelError(
        row.message.format(**words) + said,
        row.hint.format(**words) + _when(facts.retry_after),
        row.code or CODES[row.kind],
        kind=row.kind,
        reason=row.reason,
        retry_after=facts.retry_after,
        tries=row.tries,
        spent=facts.spent,
        unsure=facts.sent and row.reason in _NO_WORD,
    )


def _when(seconds: float | None) -> str:
    return f" (it asks to wait {math.ceil(seconds / 60)} minutes)" if seconds is not None and seconds > 60 else ""  # noqa: PLR2004  # less is soon


_NO_WORD = (Reason.UNREACHABLE, Reason.TIMEOUT, Reason.GARBLED, Reason.DIED, Reason.BROKEN)
CODES = {Kind.WAIT: Exit.UNAVAILABLE, Kind.MEND: Exit.ERROR, Kind.STOP: Exit.ERROR, Kind.BUG: Exit.BUG}
_QUOTED = 200  # characters of the provider's words


def _short(facts: Facts) -> str:
    words = " ".join(facts.words.split())
    cut = words if len(words) <= _QUOTED else words[:_QUOTED].rstrip() + "…"
    if facts.status is None or facts.origin is not Origin.ANSWER:
        return cut
    return f"{facts.status}, {cut}" if cut else str(facts.status)


class _Row(Struct, frozen=True):
    fits: Callable[[Facts], bool]
    reason: Reason
    kind: Kind
    message: str
    hint: str
    code: Exit | None = None
    quote: bool = True
    tries: float = math.inf


def _from(origin: Origin) -> Callable[[Facts], bool]:
    return lambda facts: facts.origin is origin


def _status(*wanted: int) -> Callable[[Facts], bool]:
    return lambda facts: facts.status in wanted


def _words(pattern: str) -> Callable[[Facts], bool]:
    return lambda facts: bool(re.search(pattern, f"{facts.code} {facts.words}", re.IGNORECASE))  # compiled only where something failed


def _any(*tests: Callable[[Facts], bool]) -> Callable[[Facts], bool]:
    return lambda facts: any(test(facts) for test in tests)


def _out_of_money(facts: Facts) -> bool:
    """Gemini words its limits by the minute like an empty account, but says when to come back; OpenAI's code is sure."""
    if facts.status == 402 or _NO_MONEY_CODE(facts):  # noqa: PLR2004  # Payment Required
        return True
    return facts.retry_after is None and _NO_MONEY(facts)


def _unreadable(facts: Facts) -> bool:
    """An answer that litellm could make nothing of: it makes up a 500 then, or a 422."""
    return facts.origin is Origin.LIBRARY and (facts.status in {None, 500} or _UNREADABLE(facts))


_NO_MONEY_CODE = _words(r"\binsufficient_quota\b|\bbilling_hard_limit_reached\b|\bbilling_not_active\b")
_NO_MONEY = _words(r"exceeded your current quota|credit balance is too low|insufficient (?:balance|credits|funds)|out of credits")
_LONG = _words(
    r"context[ _-]?(?:length|window|size)|prompt(?: is|_is)? too long|input(?: is)? too (?:long|large)|request (?:entity )?too large"
    r"|reduce the (?:length|number of tokens|prompt)|too many (?:input |prompt )?tokens|string_above_max_length"
    r"|exceed(?:s|ed)? (?:the )?model token limit|exceeds? (?:the |this model's )?(?:maximum|max|limit)[^.]{0,60}tokens|tokens?[^.]{0,60}exceeds? (?:the |context )*(?:maximum|limit)"
    r"|maximum (?:number of )?(?:input |prompt )?tokens|exceeds? (?:the )?context"
)
_NO_MODEL = _words(r"model[^.]{0,80}(?:not found|not exist|no longer available)|(?:unknown|invalid|no such) model|model_not_found")
_UNREADABLE = _words(r"converting to valid response|expecting value")
_FILTER = _words(r"content[_ ](?:policy|filter|management)|safety system|responsibleai")
_KEY = _words(
    r"\b(?:invalid|incorrect|missing|expired)[ _-]api[ _-]?key|api[ _-]?key (?:not valid|expired|invalid)|API_KEY_INVALID|authentication_error"
)

_OTHER_MODEL = "agentctl step --model NAME takes another one for once; `model:` in .agent/config.yaml sets it for good"
_LATER = "try again later: nothing is lost, the same command goes on from here"
_TABLE = (
    _Row(
        _from(Origin.NO_KEY),
        Reason.NO_KEY,
        Kind.STOP,
        "there is no key for {name}: {keys} is not set",
        "export {key}=… and try again",
        quote=False,
    ),
    _Row(
        _from(Origin.NO_PROVIDER),
        Reason.UNKNOWN_MODEL,
        Kind.STOP,
        "no provider is known for the model name {name}",
        "write it as PROVIDER/MODEL, such as anthropic/claude-sonnet-4-5; " + _OTHER_MODEL,
        quote=False,
    ),
    _Row(_from(Origin.EMPTY), Reason.EMPTY, Kind.MEND, "{name} answered with nothing", _LATER, quote=False),
    _Row(_from(Origin.FILTERED), Reason.FILTERED, Kind.MEND, "the filter of {name} held the answer back", "reword the item", quote=False),
    _Row(
        _from(Origin.CONNECTION),
        Reason.UNREACHABLE,
        Kind.WAIT,
        "{name} cannot be reached{where}",
        "check the network and the endpoint, then try again; see `agentctl doctor`",
    ),
    _Row(
        _any(_from(Origin.TIMEOUT), _status(408, 504)),
        Reason.TIMEOUT,
        Kind.WAIT,
        "{name} gave no answer in time",
        _LATER,
    ),
    _Row(
        _from(Origin.DIED),
        Reason.DIED,
        Kind.WAIT,
        "{name} could not be asked",
        "look whether the machine has enough memory, then try again; see `agentctl doctor`",
        tries=3,
    ),
    _Row(
        _from(Origin.INSIDE),
        Reason.BROKEN,
        Kind.BUG,
        "the call of {name} broke inside agentctl",
        "try again; if it stays so, run `agentctl doctor` and report what it says",
    ),
    _Row(
        _out_of_money,
        Reason.QUOTA,
        Kind.STOP,
        "the account behind {name} has no money or quota left",
        "look at the provider's billing page, or take another model: agentctl step --model NAME",
        code=Exit.UNAVAILABLE,
    ),
    _Row(_status(401), Reason.BAD_KEY, Kind.STOP, "the provider of {name} refused the key", "export {key}=… with a key that is valid"),
    _Row(
        _any(_status(413), _LONG),
        Reason.TOO_LONG,
        Kind.MEND,
        "the conversation is too long for {name}",
        "split the item into smaller ones, or take a model with a larger window: agentctl step --model NAME",
    ),
    _Row(_KEY, Reason.BAD_KEY, Kind.STOP, "the provider of {name} refused the key", "export {key}=… with a key that is valid"),
    _Row(_any(_status(404), _NO_MODEL), Reason.UNKNOWN_MODEL, Kind.STOP, "the provider knows no model {name}{where}", _OTHER_MODEL),
    _Row(_FILTER, Reason.FILTERED, Kind.MEND, "the filter of {name} refused the request", "reword the item"),
    _Row(
        _status(403),
        Reason.FORBIDDEN,
        Kind.STOP,
        "the key may not use {name}",
        "take a key that may, or another model: agentctl step --model NAME",
    ),
    _Row(_status(429), Reason.RATE, Kind.WAIT, "{name} takes no more calls for now", _LATER),
    _Row(
        _unreadable,
        Reason.GARBLED,
        Kind.WAIT,
        "{name} answered{where} with something that is no reply",
        "check that the endpoint is the API's own address, then try again; see `agentctl doctor`",
        quote=False,
        tries=5,
    ),
    _Row(lambda facts: facts.status is None or facts.status >= 500, Reason.OVERLOADED, Kind.WAIT, "the provider of {name} failed", _LATER),  # noqa: PLR2004  # the server errors
    _Row(lambda _: True, Reason.REJECTED, Kind.MEND, "the provider of {name} rejected the request", "see `agentctl doctor`; " + _OTHER_MODEL),
)
