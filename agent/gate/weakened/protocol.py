"""What the text of a test file says of its tests, whatever the language."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct, field


class Sides(Struct, frozen=True):
    """A changed file's text before and after the step; None where it wasn't, or isn't, there."""

    path: str
    before: str | None
    after: str | None


class Mark(Struct, frozen=True):
    """A line that keeps tests from running, or from counting: its number (from 1) and its text."""

    line: int
    text: str


class Tests(Struct, frozen=True):
    """What one text holds. `asserted` are the assertions by the function or test that holds them, each with its blanks tidied."""

    asserted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    marks: tuple[Mark, ...] = ()


Read = Callable[[str], Tests | None]
"""Reads a text; None where it can't be told what is in it."""
