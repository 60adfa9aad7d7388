"""A process swaps a folder for a link that leads outside while the tools are at work: nothing outside is read, listed or written."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from tests.racer import swapping

from .bench import Bench

_T = TypeVar("_T")
ROUNDS = 150
PATIENCE = 60.0  # seconds for one of them to meet the folder: on a busy machine the racer may have it all to itself for long
SECRET = "herring"  # noqa: S105 - nobody's


def raced_until(one: Callable[[int], _T], met: Callable[[_T], object], rounds: int = ROUNDS) -> list[_T]:
    """What `one` gave, round for round: at least `rounds`, and until one has `met` the folder."""
    results: list[_T] = []
    deadline = time.monotonic() + PATIENCE
    while len(results) < rounds or (not any(map(met, results)) and time.monotonic() < deadline):
        results.append(one(len(results)))
    assert any(map(met, results))
    return results


@pytest.fixture
def raced(bench: Bench, tmp_path: Path) -> Iterator[Bench]:
    """`sub` is a folder with a file, or a link to one outside, where another file has that name; it changes all the time."""
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("f.txt", "only-outside.txt"):
        (outside / name).write_text(f"{SECRET} = 1\n")
    bench.file("sub/f.txt", "inside = 1\n")
    bench.commit()
    (bench.root / "way").symlink_to(outside)
    with swapping(bench.root / "sub", bench.root / "way"):
        yield bench
    assert {file.name: file.read_text() for file in outside.iterdir()} == dict.fromkeys(("f.txt", "only-outside.txt"), f"{SECRET} = 1\n")


def test_read_tells_nothing_of_a_file_outside(raced: Bench) -> None:
    told = raced_until(lambda _: raced.call("read", path="sub/f.txt").text, lambda text: "inside = 1" in text)
    assert not [text for text in told if SECRET in text]


def test_write_and_edit_change_nothing_outside(raced: Bench) -> None:
    raced_until(lambda number: raced.call("write", path=f"sub/{number % 7}.txt", content=f"written {number}\n"), lambda result: result.ok)
    edits = [raced.call("edit", path="sub/f.txt", old=f"= {number}\n", new=f"= {number + 1}\n").text for number in range(1, ROUNDS)]
    assert not [text for text in edits if SECRET in text]


def test_list_and_search_tell_nothing_of_what_is_outside(raced: Bench) -> None:
    asked: tuple[tuple[str, dict[str, str]], ...] = (
        ("list", {}),
        ("list", {"path": "sub"}),
        ("search", {"pattern": "= 1"}),
        ("search", {"pattern": "only-", "glob": "*.txt"}),
    )
    told = raced_until(
        lambda _: "\n".join(raced.call(tool, **args).text for tool, args in asked), lambda text: "f.txt\n1│inside = 1" in text, ROUNDS // 10
    )
    assert not [text for text in told if SECRET in text or "only-outside" in text]
