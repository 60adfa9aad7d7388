"""The table of failures, row by row and as a whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.usage import Usage
from agent.errors import Exit
from agent.model.errors import Facts, Kind, Origin, Reason, error_for
from agent.model.wire import facts_from, facts_to

TOO_LONG = [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "This endpoint's maximum context length is 40960 tokens. However, you requested about 42988 tokens. Please reduce the length of either one",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
    "Input is too long for requested model.",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "the request exceeds the available context size. try increasing the context size or enable context shift",
    "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
    "Too many tokens: the total number of tokens in the prompt exceeds the limit of 128000",
    "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 60000. The input or output tokens must be reduced.",
    "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
    "Your request exceeded model token limit: 131072",
    "context_length_exceeded",
]


@pytest.mark.parametrize("words", TOO_LONG)
@pytest.mark.parametrize("status", [400, 413, 422, 500])
def test_a_conversation_that_is_too_long_is_known_in_every_providers_words(words: str, status: int) -> None:
    error = error_for("openai/x", Facts(Origin.ANSWER, words, status))
    assert (error.reason, error.kind) == (Reason.TOO_LONG, Kind.MEND)


@pytest.mark.parametrize(
    ("status", "words", "reason"),
    [
        (429, "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.", Reason.RATE),
        (429, "Number of request tokens has exceeded your per-minute rate limit", Reason.RATE),
        (400, "Unsupported parameter: 'max_tokens' is not supported with this model.", Reason.REJECTED),
        (400, "API key not valid. Please pass a valid API key.", Reason.BAD_KEY),
        (400, "The model `gpt-9` does not exist or you do not have access to it.", Reason.UNKNOWN_MODEL),
        (403, "Your project does not have access to model gpt-9", Reason.FORBIDDEN),
        (404, 'model "llama9" not found, try pulling it first', Reason.UNKNOWN_MODEL),
        (400, "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.", Reason.FILTERED),
        (402, "Insufficient Balance", Reason.QUOTA),
        (400, "Your credit balance is too low to access the Anthropic API.", Reason.QUOTA),
        (503, "The model is overloaded. Please try again later.", Reason.OVERLOADED),
        (None, "", Reason.OVERLOADED),
    ],
)
def test_words_that_sound_alike_are_told_apart(status: int | None, words: str, reason: Reason) -> None:
    assert error_for("x/y", Facts(Origin.ANSWER, words, status)).reason is reason


def test_a_quota_by_the_minute_waits_and_an_empty_account_stops() -> None:
    words = "You exceeded your current quota, please check your plan and billing details."
    by_minute = error_for("gemini/x", Facts(Origin.ANSWER, words, 429, "RESOURCE_EXHAUSTED", retry_after=37.0))
    empty = error_for("openai/x", Facts(Origin.ANSWER, words, 429, "insufficient_quota", retry_after=37.0))
    assert (by_minute.reason, by_minute.kind, by_minute.retry_after) == (Reason.RATE, Kind.WAIT, 37.0)
    assert (empty.reason, empty.kind, empty.code) == (Reason.QUOTA, Kind.STOP, Exit.UNAVAILABLE)


def test_the_hint_names_the_providers_own_variable() -> None:
    error = error_for("anthropic/x", Facts(Origin.ANSWER, "invalid x-api-key", 401, keys=("ANTHROPIC_API_KEY",)))
    assert error.message == "the provider of anthropic/x refused the key: 401, invalid x-api-key"
    assert error.hint.startswith("export ANTHROPIC_API_KEY=…")


facts = st.builds(
    Facts,
    origin=st.sampled_from(Origin),
    words=st.text(),
    status=st.none() | st.integers(100, 599),
    code=st.text(),
    retry_after=st.none() | st.floats(0, 1e6),
    keys=st.lists(st.text(), max_size=2).map(tuple),
    address=st.text(),
    spent=st.builds(Usage, usd=st.none() | st.floats(0, 10), input=st.integers(0, 10**6)),
)


@given(name=st.text(), given_facts=facts)
def test_any_facts_make_an_error_with_a_mend_and_survive_the_pipe(name: str, given_facts: Facts) -> None:
    error = error_for(name, given_facts)
    assert name in error.message
    assert error.hint
    assert error.code is not Exit.OK
    assert (error.kind is Kind.WAIT) <= (error.code is Exit.UNAVAILABLE)
    assert (error.kind is Kind.BUG) == (error.code is Exit.BUG)
    assert facts_from({**facts_to(given_facts)}) == given_facts
