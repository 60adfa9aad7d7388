"""What calls cost, by the real litellm against a loopback server that answers as providers do."""

from __future__ import annotations

import dataclasses
import json
import random
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.actions.metered import MeteredModel
from agent.domain.config import Limits
from agent.domain.price import Price
from agent.ledger import CapError, Holds, Ledger, Purse
from agent.model.client import Child, ClientModel
from agent.model.errors import ModelError
from agent.model.price import price_of
from agent.model.protocol import Endpoint
from tests.model.chat_server import Answer, ChatServer, Json, as_json, fault, reply, text, torn
from tests.model.conftest import ASKED


def usage(given: int, output: int, **details: Json | int) -> Json:
    return {"prompt_tokens": given, "completion_tokens": output, "total_tokens": given + output, **details}


# A model, what the server says, tokens in, cached and out, and millionths of a USD at the rates of the packaged table.
_TOLD: list[tuple[str, Json, tuple[int, int, int], float]] = [
    # OpenAI: prompt_tokens includes the cached ones, completion_tokens the reasoning.
    (
        "openai/gpt-5",
        usage(2006, 300, prompt_tokens_details={"cached_tokens": 1920}, completion_tokens_details={"reasoning_tokens": 250}),
        (2006, 1920, 300),
        86 * 1.25 + 1920 * 0.125 + 300 * 10,
    ),
    # DeepSeek names the cached ones apart, within prompt_tokens.
    (
        "deepseek/deepseek-chat",
        usage(1000, 100, prompt_cache_hit_tokens=600, prompt_cache_miss_tokens=400),
        (1000, 600, 100),
        400 * 0.28 + 600 * 0.028 + 100 * 0.42,
    ),
    # xAI leaves the reasoning out of completion_tokens: its total tells.
    (
        "xai/grok-4.5",
        usage(1000, 50) | {"total_tokens": 1250, "completion_tokens_details": {"reasoning_tokens": 200}},
        (1000, 0, 250),
        1000 * 2 + 250 * 6,
    ),
    # Long prompts at the rates of the long.
    ("xai/grok-4.5", usage(250_000, 100), (250_000, 0, 100), 250_000 * 4 + 100 * 12),
    # A priority tier that the account, and not the request, has chosen (see `_tier`).
    ("openai/gpt-4o-2024-08-06", usage(1000, 100), (1000, 0, 100), 1000 * 4.25 + 100 * 17),
]


@pytest.mark.parametrize(("name", "told", "counts", "millionths"), _TOLD)
def test_each_token_is_charged_once_at_its_own_price_and_never_more_than_was_set_aside(
    child: Child, server: ChatServer, name: str, told: Json, counts: tuple[int, int, int], millionths: float
) -> None:
    answer = text("hi", usage=told)
    server.says(_tier(answer) if "gpt-4o" in name else answer)
    used = ClientModel(name, Endpoint(api_base=server.url), child).complete(ASKED).usage
    assert (used.input, used.cached, used.output) == counts
    assert used.usd == pytest.approx(millionths / 1e6)
    price = price_of(name)
    assert price is not None
    assert used.usd is not None
    assert used.usd <= price.at_most(used.input, used.output) + 1e-9


def _tier(answer: Answer) -> Answer:
    return dataclasses.replace(answer, body=json.dumps(json.loads(answer.body) | {"service_tier": "priority"}).encode())


def test_a_price_of_the_person_s_charges_reads_and_writes_of_the_cache_and_unknown_models(child: Child, server: ChatServer) -> None:
    server.says(text("hi", usage=usage(1000, 100, prompt_tokens_details={"cached_tokens": 600, "cache_write_tokens": 300})))
    asked = ClientModel("openai/mine", Endpoint(api_base=server.url), child, price=Price(1.0, 0.1, 5.0, written=1.25))
    assert asked.complete(ASKED).usage.usd == pytest.approx((100 * 1 + 600 * 0.1 + 300 * 1.25 + 100 * 5) / 1e6)


@pytest.mark.parametrize("seed", range(3))
def test_the_ledger_is_what_the_server_s_own_log_says_and_with_what_was_torn_stays_under_the_cap(
    child: Child, server: ChatServer, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - a test that says the same each time
    price = Price(chance.uniform(1, 50), chance.uniform(0.1, 1), chance.uniform(5, 500), written=chance.uniform(1, 60))
    cap = price.at_most(2000, 500) * chance.uniform(2, 5)
    purse = Purse(tmp_path, Limits(total_usd=cap))
    asked = MeteredModel(ClientModel("openai/mine", Endpoint(api_base=server.url), child, price=price), purse, "s", "i", lambda: None)
    answered = lost = 0.0
    refused = 0
    for _ in range(40):
        given, output = chance.randint(1, 2000), chance.randint(1, 500)
        cached = chance.randint(0, given)
        written = chance.randint(0, given - cached)
        told = usage(given, output, prompt_tokens_details={"cached_tokens": cached, "cache_write_tokens": written})
        kind = chance.choice(["text", "text", "empty", "429", "500", "torn"])
        server.says(_answers(told)[kind])
        try:
            asked.complete(replace(ASKED, most_input=2000))
        except CapError:
            refused += 1
        except ModelError:
            pass
        if server.requests:  # the server's log: what came, and what that costs by hand
            fresh = given - cached - written
            cost = (fresh * price.input + cached * price.cached + written * (price.written or 0) + output * price.output) / 1e6
            answered += cost if kind in ("text", "empty") else 0
            lost += cost if kind == "torn" else 0
    assert refused
    assert sum(one.usage.usd or 0 for one in Ledger(tmp_path).sums().spent) == pytest.approx(answered, abs=1e-7)
    assert answered + lost <= cap
    assert answered + sum(hold.usd for hold in Holds(tmp_path).open(Ledger(tmp_path))) <= cap + 1e-7


def _answers(told: Json) -> dict[str, Answer]:
    return {
        "text": text("hi", usage=told),
        "empty": reply({"content": None}, usage=told),
        "429": fault(429, "slow down"),
        "500": as_json({"error": {"message": "broken"}}, 500),
        "torn": torn(text("hi", usage=told), 40),
    }
