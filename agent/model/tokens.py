"""Counts tokens without ever asking the network for anything, and without ever failing."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from agent.cache import keep, kept
from agent.durable import read_own, write_hint
from agent.model.price import litellm_folder
from agent.model.vocabulary import Vocabulary, in_order
from agent.places import state_folder

LONGEST = 200_000
"""Characters. A longer text is estimated; this much takes 0.1 s, where each word is a new one or all is one unbroken run (tiktoken 0.14)."""

# Names and hashes are tiktoken's own (tiktoken_ext/openai_public.py): the file's name is the SHA-1 of its address, the content is checked by SHA-256.
_VOCABULARY = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_IN_ORDER = "9fe689941fc380e939b589c561a2570759952deddc066680b0e6826387078c6f"  # of the same lines in another order


def count(text: str) -> int:
    """How many tokens of cl100k_base `text` is, or its UTF-8 bytes / 4 where it is longer than LONGEST or counting fails."""
    if not text:
        return 0
    vocabulary = _vocabulary()
    if vocabulary is None or len(text) > LONGEST:
        return estimate(text)
    found = vocabulary.count(text)
    if found is not None:
        return found
    encode = _encoder()
    if encode is None:
        return estimate(text)
    try:
        return len(encode(text))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001  # the binding's panics are no Exceptions
        return estimate(text)


@contextmanager
def remembered(file: Path) -> Iterator[Callable[[str], int]]:
    """`count`, with what it said last time from `file`, by the hash of each text; `file` then holds what was asked for this time."""
    known: dict[str, int] = kept(file) or {}
    asked: dict[str, int] = {}

    def counted(text: str) -> int:
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if key not in asked:
            asked[key] = known[key] if key in known else count(text)
        return asked[key]

    yield counted
    if not asked.keys() <= known.keys() and _vocabulary() is not None:  # an estimate isn't worth keeping
        keep(file, asked)


def estimate(text: str) -> int:
    """UTF-8 bytes / 4, rounded up."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4


def vocabulary_folder() -> Path | None:
    """The folder of vocabularies that litellm ships, in the shape of tiktoken's cache; None where it is missing."""
    package = litellm_folder()
    folder = package / "litellm_core_utils" / "tokenizers" if package else None
    return folder if folder and folder.is_dir() else None


@cache
def _vocabulary() -> Vocabulary | None:
    """The vocabulary, or None where its file is missing or isn't tiktoken's. Its lines in order are kept for the next process."""
    folder, own = vocabulary_folder(), state_folder(os.environ)
    if folder is None:
        return None
    kept = own and _whole(read_own, own / "vocabulary", _IN_ORDER)
    if not kept and (data := _whole(Path.read_bytes, folder / _VOCABULARY, _SHA256)):
        kept = in_order(data)
        with suppress(OSError):
            write_hint(own / "vocabulary", kept) if own else None
    return Vocabulary(kept) if kept else None


def _whole(read: Callable[[Path], bytes], file: Path, digest: str) -> bytes:
    """What `file` holds, if that has this SHA-256; else nothing."""
    try:
        data = read(file)
    except OSError:
        return b""
    return data if hashlib.sha256(data).hexdigest() == digest else b""


@cache
def _encoder() -> Callable[[str], list[int]] | None:
    """The encoder, or None. The file is checked before, since tiktoken deletes one that has the wrong hash and downloads it again."""
    folder = vocabulary_folder()
    if folder is None or not _whole(Path.read_bytes, folder / _VOCABULARY, _SHA256):
        return None
    try:
        return _load(folder)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001  # the binding's panics are no Exceptions
        return None


def _load(folder: Path) -> Callable[[str], list[int]]:
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)  # tiktoken offers no other way to name a folder
    try:
        import tiktoken  # noqa: PLC0415  # with its encoder 0.2 s that few texts are worth

        encoding = tiktoken.get_encoding("cl100k_base")
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before
    return lambda text: encoding.encode(text, disallowed_special=())
