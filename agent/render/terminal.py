"""The one door to the terminal: whatever is printed, by whichever path, is text there, and steers nothing but what we style ourselves."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import IO, TextIO

import click

from agent.domain.text import plain

# Stands for ESC in what we style; nobody who writes a file or a reply can know it.
_ESCAPE = f"\ue0f1{os.urandom(8).hex()}"


def styled(text: str, **style: object) -> str:
    """`text` in click's `style`, for a stream behind `guarded`, which lets just this through."""
    return click.style(text, **style).replace("\x1b", _ESCAPE)  # type: ignore[arg-type]  # as click declares each of them


class _Guarded(io.TextIOBase):
    """A text stream before another: control, hidden and reordering characters come out as their codes.

    It has no `buffer`, so that nothing that looks for the bytes below gets around it.
    """

    def __init__(self, below: TextIO) -> None:
        self.below = below

    def write(self, text: str) -> int:
        colours = self.isatty()
        self.below.write(plain(text).replace(_ESCAPE, "\x1b") if colours else plain(_unstyled(text)))
        return len(text)

    def flush(self) -> None:
        if not self.below.closed:
            self.below.flush()

    def isatty(self) -> bool:
        return self.below.isatty()

    def fileno(self) -> int:
        return self.below.fileno()

    def writable(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]  # typeshed has an attribute
        return self.below.encoding or "utf-8"

    @property
    def errors(self) -> str | None:  # type: ignore[override]  # typeshed has an attribute
        return self.below.errors


def _unstyled(text: str) -> str:
    return click.unstyle(text.replace(_ESCAPE, "\x1b")) if _ESCAPE in text else text


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Put the door before stdout and stderr while the block lasts."""
    out, err = sys.stdout, sys.stderr
    with contextlib.redirect_stdout(_Guarded(out)), contextlib.redirect_stderr(_Guarded(err)):
        yield


def below(stream: IO[str]) -> IO[str]:
    """The stream behind the door, for rich, which draws with escape sequences: what it gets must be `plain` already."""
    return stream.below if isinstance(stream, _Guarded) else stream
