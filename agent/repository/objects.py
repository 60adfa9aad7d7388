"""What git's object store holds, asked of two processes that stay while they are asked: to start one takes as long as hundreds of answers."""

from __future__ import annotations

import codecs
import contextlib
import hashlib
import os
import stat
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import git as gitpython

_AT_ONCE = 4096  # bytes of questions: a pipe always takes so many (pipe(7)), while git may wait for us to read its answers
_NOTHING = "0" * 40
_SHA1 = 40  # hexadecimal digits; an id of more is SHA-256's


class Thing(NamedTuple):
    """An object: its whole name, its kind (commit, tree, blob, tag), its size in bytes; its bytes where they were asked for."""

    id: str
    kind: str
    size: int
    data: bytes = b""


class Commit(NamedTuple):
    """A commit, as gitformat-commit has it. `time` is the committer's, in seconds since 1970."""

    id: str
    tree: str
    parents: tuple[str, ...]
    time: int
    message: str


class Objects:
    """Answers by name: an object's id, or any other name of one that git knows (`REV:path`, `HEAD^{commit}`).

    `start` begins a git process with the arguments it is given; `failed` makes the error of one that ended with a status, having said so much.
    """

    def __init__(self, start: Callable[..., gitpython.Git.AutoInterrupt], failed: Callable[[Sequence[str], int, str], Exception]) -> None:
        self._start = start
        self._failed = failed
        self._running: dict[str, _Talk] = {}
        weakref.finalize(self, _close, self._running)  # at the latest when this process ends

    def facts(self, names: Sequence[str]) -> list[Thing | None]:
        """What each of `names` is, in their order and without bytes; None for what isn't there. Raises GitError where git can't tell."""
        return self._ask("--batch-check", [self._in_a_line(name) for name in names])

    def contents(self, names: Sequence[str]) -> list[Thing | None]:
        """As `facts`, with the bytes."""
        return self._ask("--batch", [self._in_a_line(name) for name in names])

    def commit(self, name: str) -> Commit | None:
        """The commit of that name, None where there is none. Raises GitError as `facts`."""
        found = self.contents([f"{name}^{{commit}}"])[0]
        return found and _commit(found)

    def close(self) -> None:
        """End the processes; the next question starts others."""
        _close(self._running)

    def _in_a_line(self, name: str) -> str:
        """`name`, or the id of what it names where it has a newline, which ends a question."""
        if "\n" not in name:
            return name
        process = self._start("rev-parse", "--verify", "--quiet", "--end-of-options", name)
        return process.stdout.read().decode().strip() or _NOTHING

    def _ask(self, how: str, names: Sequence[str]) -> list[Thing | None]:
        for again in (True, False):
            if how not in self._running:
                self._running[how] = _Talk(self._start("cat-file", how), with_data=how == "--batch")
            try:
                answers = [answer for some in _portions(names) for answer in self._running[how].answers(some)]
            except BaseException:  # a signal may have come between question and answer, and the next one would get that
                self._running.pop(how).end()
                raise
            if len(answers) == len(names):
                return answers
            status, said = self._running.pop(how).end()
            if status >= 0 or not again:  # by a signal: Ctrl-C reaches all that a terminal has in front, and is acted on elsewhere
                raise self._failed(("cat-file", how), status, said)
        raise AssertionError


class _Talk:
    """A process under way. What it says on stderr is read after each portion, so that it never waits for that."""

    def __init__(self, process: gitpython.Git.AutoInterrupt, *, with_data: bool) -> None:
        self._process = process
        self._in, self._out, self._err = process.stdin, process.stdout, process.stderr
        self._with_data = with_data
        self._said = b""
        os.set_blocking(self._err.fileno(), False)

    def answers(self, names: Sequence[bytes]) -> Iterator[Thing | None]:
        """As many answers as git gives before it ends."""
        try:
            self._in.write(b"".join(names))
            self._in.flush()
        except BrokenPipeError:
            return
        for _ in names:
            head = self._out.readline()
            if not head.endswith(b"\n"):
                return
            words = head.rstrip(b"\n").split(b" ")
            if len(words) != 3 or not words[2].isdigit():  # noqa: PLR2004 - "ID TYPE SIZE", see git-cat-file(1); else "NAME missing"
                yield None
                continue
            size = int(words[2])
            data = self._out.read(size + 1) if self._with_data else b"\n"
            if len(data) != 1 + size * self._with_data:
                return
            yield Thing(words[0].decode(), words[1].decode(), size, data[:-1])
        self._said = self._err.read() or b""

    def end(self) -> tuple[int, str]:
        """Its status, once it is told to end, and what it said last."""
        for stream in (self._in, self._out):
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        status = self._process.proc.wait() if self._process.proc else 0
        said = self._said + (self._err.read() or b"")
        self._err.close()
        return status, said.decode("utf-8", "replace")


def entries(tree: Thing) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Mode, name and id (as bytes) of what lies directly in `tree`, as git keeps them: "MODE NAME<NUL>ID"."""
    at, length = 0, len(tree.id) // 2
    while at < len(tree.data):
        end = tree.data.index(b"\0", at)
        mode, _, name = tree.data[at:end].partition(b" ")
        at = end + 1 + length
        yield mode, name, tree.data[end + 1 : at]


def entry_for(blob: str, mode: int) -> tuple[str, str]:
    """Mode and object as a tree or the index has them, of a file or link with these mode bits whose bytes are `blob`."""
    return "120000" if stat.S_ISLNK(mode) else "100755" if mode & 0o100 else "100644", blob


def id_of(kind: str, portions: Iterable[bytes], size: int, like: str) -> str:
    """The id of an object of these bytes, by the algorithm of `like` (gitformat-loose(5): kind and size, a NUL, the bytes)."""
    made = hashlib.sha1(usedforsecurity=False) if len(like) == _SHA1 else hashlib.sha256()
    made.update(f"{kind} {size}\0".encode())
    for portion in portions:
        made.update(portion)
    return made.hexdigest()


def _close(running: dict[str, _Talk]) -> None:
    while running:
        running.popitem()[1].end()


def _portions(names: Sequence[str]) -> Iterator[list[bytes]]:
    portion: list[bytes] = []
    room = _AT_ONCE
    for name in names:
        line = os.fsencode(name) + b"\n"
        if portion and len(line) > room:
            yield portion
            portion, room = [], _AT_ONCE
        portion.append(line)
        room -= len(line)
    if portion:
        yield portion


def _commit(thing: Thing) -> Commit:
    head, _, message = thing.data.partition(b"\n\n")
    fields = [line.partition(b" ")[::2] for line in head.split(b"\n")]
    first = dict(reversed(fields))
    parents = tuple(value.decode() for key, value in fields if key == b"parent")
    when = int(first[b"committer"].rsplit(b" ", 2)[1])
    return Commit(thing.id, first[b"tree"].decode(), parents, when, _decoded(message, first.get(b"encoding", b"utf-8")))


def _decoded(message: bytes, encoding: bytes) -> str:
    try:
        codec = codecs.lookup(encoding.decode("ascii")).name
    except (LookupError, UnicodeDecodeError):
        codec = "utf-8"
    return message.decode(codec, "replace")
