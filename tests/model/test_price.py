from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.domain.price import Price
from agent.model import price
from agent.model.price import limits_of, price_of
from agent.model.protocol import Limits
from tests.model.conftest import ROOT, clean_env

NAMES = [
    "gpt-4o",
    "openai/gpt-4o",
    "openai/gpt-5",
    "anthropic/claude-sonnet-4-5",
    "claude-sonnet-4-5",
    "gemini/gemini-2.5-pro",
    "groq/llama-3.3-70b-versatile",
    "mistral/mistral-large-latest",
    "deepseek/deepseek-chat",
    "xai/grok-4",
    "openrouter/anthropic/claude-sonnet-4.5",
    "bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0",
    "bedrock/claude-opus-latest",
    "ollama/llama3",
]

LITELLMS_OWN = """
import json, os, sys
from agent.model.through_litellm import _imported
litellm = _imported()
told = {}
for name in json.loads(sys.argv[1]):
    try:
        info = litellm.get_model_info(name)
        told[name] = [info["input_cost_per_token"], info["output_cost_per_token"], info["max_input_tokens"], info["max_output_tokens"]]
    except Exception:
        told[name] = None
print(json.dumps(told), flush=True)
os._exit(0)
"""


def test_each_row_is_found_where_it_stands() -> None:
    table = price._table()
    rows = json.loads(table)
    assert len(rows) > 1000
    assert [key for key, row in rows.items() if price._row_in(table, key) != row] == []
    assert price._row_in(table, "openai/no-such-model") is None


def test_the_packaged_tables_say_what_litellm_says(tmp_path: Path) -> None:
    env = clean_env(tmp_path)
    env["PYTHONPATH"] = os.pathsep.join([str(ROOT), env["PYTHONPATH"]])
    ran = subprocess.run([sys.executable, "-c", LITELLMS_OWN, json.dumps(NAMES)], env=env, capture_output=True, text=True, check=True)
    told = json.loads(ran.stdout.splitlines()[-1])
    assert sum(row is not None for row in told.values()) >= 8
    for name, row in told.items():
        price, limits = price_of(name), limits_of(name)
        if row is None:
            assert (name, price, limits) == (name, None, None)
            continue
        if price is not None:
            assert [price.input, price.output] == pytest.approx([row[0] * 1e6, row[1] * 1e6]), name
        if limits is not None:
            assert (name, limits.window, limits.max_output) == (name, row[2], row[3])
        assert price is not None or not row[0]


def test_a_known_model_has_its_price_and_limits() -> None:
    assert price_of("openai/gpt-4o-2024-08-06") == Price(input=2.5, cached=1.25, output=10.0, most_input=4.25, most_output=17.0)
    assert limits_of("openai/gpt-4o-2024-08-06") == Limits(window=128_000, max_output=16_384)


@pytest.mark.parametrize("name", ["openai/my-local-thing", "groq/gpt-4o", "nowhere/claude-sonnet-4-5", "", "/", "sample_spec/x", "anthropic/"])
def test_an_unknown_model_has_none(name: str) -> None:
    assert price_of(name) is None
    assert limits_of(name) is None
