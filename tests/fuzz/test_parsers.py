"""Any text is read as a value, or refused by the one documented error, in one sentence and with its mend; never anything else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import AgentctlError
from tests.fuzz.examples import assert_told, examples, in_time
from tests.fuzz.inputs import ANY_BYTES, damaged
from tests.fuzz.parsers import PARSERS, Parser

_ALL = pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.name)


def judge(parser: Parser, data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    with in_time():
        try:
            value = parser.read(text)
        except AgentctlError as error:
            assert_told(error)
            return
        if parser.write is not None:
            again = parser.read(parser.write(value))
            assert again == value, text


@_ALL
@examples(12)
@given(data=ANY_BYTES)
def test_anything_at_all(parser: Parser, data: bytes) -> None:
    judge(parser, data)


@_ALL
@examples(20)
@given(choices=st.data())
def test_something_valid_that_was_damaged(parser: Parser, choices: st.DataObject) -> None:
    judge(parser, choices.draw(damaged(parser.valid)))
