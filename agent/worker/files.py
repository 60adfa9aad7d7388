"""Text files, kept byte for byte: encoding, BOM, line ends, mode bits; written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from bisect import bisect_left

from msgspec import Struct

from agent.beneath import Beneath, NotRegularError
from agent.domain.text import plain
from agent.errors import AgentctlError

LARGEST = 20_000_000
_SNIFFED = 8000
_LFS = b"version https://git-lfs.github.com/spec/v1\n"
_LARGEST_POINTER = 1024
_CRLF = re.compile("\r\n")
_BEYOND_ASCII = re.compile("[^\x00-\x7f\udc80-\udcff]")


class Refusal(AgentctlError):  # noqa: N818 - an answer to the model, as the other nouns are
    """What a tool will not or can't do, in words that the model can act on. Nothing was changed."""


class Codec(Struct, frozen=True):
    """How a file's bytes are text; every byte sequence that it reads it writes back the same."""

    name: str
    encoding: str
    errors: str
    bom: bytes = b""


UTF8 = Codec("UTF-8", "utf-8", "surrogateescape")
_LATIN1 = Codec("Latin-1", "latin-1", "strict")
_MARKED = (
    Codec("UTF-8 with BOM", "utf-8", "surrogateescape", b"\xef\xbb\xbf"),
    Codec("UTF-16", "utf-16-le", "surrogatepass", b"\xff\xfe"),
    Codec("UTF-16", "utf-16-be", "surrogatepass", b"\xfe\xff"),
)


class Text(Struct, frozen=True):
    """A text file's content: `body` without BOM, line ends as they are in the file."""

    body: str
    codec: Codec = UTF8

    @property
    def lines(self) -> list[str]:
        """Its lines without their ends; a last line without one counts."""
        return self.normal.removesuffix("\n").split("\n") if self.body else []

    @property
    def normal(self) -> str:
        r"""`body` with every CRLF as a newline alone, as a model sees it."""
        return self.body.replace("\r\n", "\n")

    @property
    def newline(self) -> str:
        """The line end that most of its lines have."""
        return _newline_in(self.body) or "\n"

    @property
    def data(self) -> bytes:
        """The file's bytes."""
        return self.codec.bom + self.body.encode(self.codec.encoding, self.codec.errors)

    def find(self, wanted: str) -> list[tuple[int, int]]:
        """Where `wanted` stands in `body`, line ends of either kind counting as equal; spans don't overlap unless there is only one."""
        text = self.normal
        needle = wanted if wanted in text else wanted.replace("\r\n", "\n")
        starts = _starts(text, needle)
        if len(starts) == 1 and (again := text.find(needle, starts[0] + 1)) >= 0:
            starts.append(again)
        breaks = [match.start() - number for number, match in enumerate(_CRLF.finditer(self.body))]
        return [(start + bisect_left(breaks, start), start + len(needle) + bisect_left(breaks, start + len(needle))) for start in starts]

    def replaced(self, spans: list[tuple[int, int]], new: str) -> bytes:
        """The file's bytes with `new` at each of `spans` (in order, apart), in the line ends found there; no other byte differs.

        Raises Refusal where the file's encoding has no bytes for `new`.
        """
        parts, at = [self.codec.bom], 0
        for start, end in spans:
            parts += [self._bytes(self.body[at:start]), _encode(_with_newline(new, self._newline_at(start, end)), self.codec)]
            at = end
        return b"".join([*parts, self._bytes(self.body[at:])])

    def line_of(self, place: int) -> int:
        """The number, from 1, of the line that holds `body[place]`."""
        return self.body.count("\n", 0, place) + 1

    def _bytes(self, part: str) -> bytes:
        return part.encode(self.codec.encoding, self.codec.errors)

    def _newline_at(self, start: int, end: int) -> str:
        if inside := _newline_in(self.body[start:end]):
            return inside
        after = self.body.find("\n", end)
        near = after if after >= 0 else self.body.rfind("\n", 0, start)
        return "\r\n" if near > 0 and self.body[near - 1] == "\r" else "\n"


def _starts(text: str, needle: str) -> list[int]:
    found, at = [], text.find(needle)
    while at >= 0:
        found.append(at)
        at = text.find(needle, at + len(needle))
    return found


def _newline_in(text: str) -> str:
    crlf = text.count("\r\n")
    alone = text.count("\n") - crlf
    if not crlf and not alone:
        return ""
    return "\r\n" if crlf >= alone else "\n"


def _with_newline(text: str, newline: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", newline)


def _encode(text: str, codec: Codec) -> bytes:
    try:
        return text.encode(codec.encoding)
    except UnicodeEncodeError as error:
        odd = plain(text[error.start])
        hint = "Write it another way, or convert the file with `run` first."
        raise Refusal(f"The file is {codec.name}, which has no {odd!r}: nothing was changed.", hint) from error


def decode(data: bytes) -> Text | None:
    """`data` as text, or None where it is binary (a NUL among its first 8000 bytes, as git has it).

    Bytes that are not UTF-8 are Latin-1 where no part of the file is UTF-8 beyond ASCII; else they stay as they are, unseen.
    """
    for codec in _MARKED:
        if data.startswith(codec.bom):
            return _decode_marked(data, codec)
    if b"\0" in data[:_SNIFFED]:
        return None
    body = data.decode(UTF8.encoding, UTF8.errors)
    if _BEYOND_ASCII.search(body) or body.isascii():
        return Text(body)
    return Text(data.decode(_LATIN1.encoding), _LATIN1)


def _decode_marked(data: bytes, codec: Codec) -> Text | None:
    try:
        text = Text(data[len(codec.bom) :].decode(codec.encoding, codec.errors), codec)
    except UnicodeDecodeError:  # half a character at the end of a UTF-16 file
        return None
    return text if text.data == data and "\0" not in text.body[:_SNIFFED] else None


def written(content: str, before: Text | None) -> bytes:
    """The bytes of a file whose whole content becomes `content`; an existing file keeps its encoding, BOM and line ends."""
    if before is None:
        return _encode(content, UTF8)
    whole = _with_newline(content.removeprefix("\ufeff"), before.newline) if before.body else content
    return before.codec.bom + _encode(whole, before.codec)


def lfs_size(data: bytes) -> int | None:
    """How many bytes the real file has where `data` is a git-LFS pointer, else None (https://github.com/git-lfs/git-lfs, docs/spec.md)."""
    if len(data) > _LARGEST_POINTER or not data.startswith(_LFS):
        return None
    size = re.search(rb"^size (\d{1,18})$", data, re.MULTILINE)
    return int(size[1]) if size else None


def as_text(path: str, data: bytes) -> Text:
    """The text in `data`. Raises Refusal for a binary file and a git-LFS pointer."""
    content = decode(data)
    if content is None:
        raise Refusal(f"{path} is binary ({len(data):,} bytes).", "Change it with a program, through `run`.")
    if (size := lfs_size(data)) is not None:
        raise Refusal(f"{path} is a git-LFS pointer; the file itself ({size:,} bytes) isn't here.", f"git lfs pull --include={shlex.quote(path)}")
    return content


def load(root: Beneath, path: str) -> bytes:
    """A regular file's bytes, at most `LARGEST`. Raises Refusal for others, OSError where it can't be read."""
    try:
        with root.reading(path) as file:
            data = file.read(LARGEST + 1)
            size = os.fstat(file.fileno()).st_size
    except NotRegularError as error:
        raise Refusal("It is not a regular file.") from error
    if len(data) > LARGEST:
        raise Refusal(f"It is too large to read whole ({max(size, len(data)):,} bytes).", "Use search, or `run` with head, tail or sed.")
    return data


def save(root: Beneath, path: str, data: bytes) -> None:
    """Let `path` hold `data`: all of it or, on any error, what it held before. Mode and owner of an existing file stay."""
    old = root.look(path)
    with root.replacing(path) as file:
        file.write(data)
        if old is not None:
            with contextlib.suppress(OSError):  # another's, or of a user that this container has no number for
                os.fchown(file.fileno(), old.st_uid, old.st_gid)
        file.flush()
        os.fsync(file.fileno())
