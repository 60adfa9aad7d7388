"""A process swaps a folder for a link that leads outside while the tools are at work: nothing outside is read, listed or written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.racer import swapping

from .bench import Bench

ROUNDS = 150
SECRET = "herring"  # noqa: S105 - nobody's


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
    told = [raced.call("read", path="sub/f.txt").text for _ in range(ROUNDS)]
    assert not [text for text in told if SECRET in text]
    assert [text for text in told if "inside = 1" in text]


def test_write_and_edit_change_nothing_outside(raced: Bench) -> None:
    results = [raced.call("write", path=f"sub/{number % 7}.txt", content=f"written {number}\n") for number in range(ROUNDS)]
    edits = [raced.call("edit", path="sub/f.txt", old=f"= {number}\n", new=f"= {number + 1}\n").text for number in range(1, ROUNDS)]
    assert [result for result in results if result.ok]
    assert not [text for text in edits if SECRET in text]


def test_list_and_search_tell_nothing_of_what_is_outside(raced: Bench) -> None:
    told = [
        raced.call(tool, **args).text
        for _ in range(ROUNDS // 10)
        for tool, args in (("list", {}), ("list", {"path": "sub"}), ("search", {"pattern": "= 1"}), ("search", {"pattern": "only-", "glob": "*.txt"}))
    ]
    assert not [text for text in told if SECRET in text or "only-outside" in text]
    assert [text for text in told if "f.txt\n1│inside = 1" in text]
