from __future__ import annotations

import contextlib
import os
import shutil
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import beneath
from agent.beneath import Beneath, NotRegularError
from tests.racer import swapping

PARTS = st.lists(st.sampled_from(["..", ".", "", "in", "file", "up", "far", "out", "proc", "\0", "new"]), min_size=1, max_size=5)
OPERATIONS: dict[str, Callable[[Beneath, str, Path], object]] = {
    "read": lambda root, path, _: root.read(path),
    "names": lambda root, path, _: root.names(path),
    "link": lambda root, path, _: root.link(path),
    "write": lambda root, path, _: root.write(path, b"written"),
    "put": lambda root, path, source: root.put(path, source),
    "remove": lambda root, path, _: root.remove(path),
    "settle": lambda root, path, _: root.settle(path),
}


@pytest.fixture
def root(tmp_path: Path) -> Beneath:
    """A folder with a file, and beside it what nobody may reach."""
    return furnished(tmp_path)


def furnished(place: Path) -> Beneath:
    (place / "root/in").mkdir(parents=True)
    (place / "far").mkdir()
    (place / "root/in/file").write_bytes(b"inside")
    (place / "far/file").write_bytes(b"outside")
    (place / "source").write_bytes(b"put")
    for link, target in {"up": "..", "far": "../far", "out": "../far/file", "proc": "/proc/self/root", "in/up": "../.."}.items():
        (place / "root" / link).symlink_to(target)
    return Beneath(place / "root")


def outside(place: Path) -> dict[str, bytes]:
    found = {path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file() and not path.is_symlink()}
    return {path: data for path, data in found.items() if not path.startswith("root/")}


@given(PARTS, st.sampled_from(sorted(OPERATIONS)), st.sampled_from(["", "/", "in/"]))
def test_no_path_and_no_link_leads_any_operation_outside(parts: list[str], operation: str, start: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name).resolve()
        root = furnished(place)
        before = outside(place)
        with contextlib.suppress(OSError):
            told = OPERATIONS[operation](root, start + "/".join(parts), place / "source")
            assert operation == "link" or told in (None, b"inside", b"written") or "source" not in str(told)
        assert outside(place) == before


def test_what_is_written_is_there_with_its_folders_and_keeps_its_mode(root: Beneath) -> None:
    root.write("a/b/c", b"one")
    (root.folder / "a/b/c").chmod(0o4750)
    root.write("a/b/c", b"two")
    assert root.read("a/b/c") == b"two"
    told = root.look("a/b/c")
    assert told is not None
    assert told.st_mode & 0o7777 == 0o750  # what runs as another user doesn't with other bytes
    assert root.below("a/b/").names("") == ["c"]


def test_a_write_that_fails_leaves_all_as_it_was(root: Beneath) -> None:
    def break_off() -> None:
        with root.replacing("in/file") as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        break_off()
    assert (root.read("in/file"), sorted(root.names("in"))) == (b"inside", ["file", "up"])


def test_a_link_is_replaced_and_what_it_leads_to_stays(root: Beneath) -> None:
    root.write("out", b"mine")
    root.put("far/file", root.folder.parent / "source")
    assert (root.read("out"), root.read("far/file")) == (b"mine", b"put")
    assert (root.folder.parent / "far/file").read_bytes() == b"outside"


def test_put_takes_the_place_of_a_file_or_a_folder_in_its_way_and_keeps_links_links(root: Beneath) -> None:
    source = root.folder.parent / "link"
    source.symlink_to("nowhere")
    root.put("in/file/deep", source)
    assert root.link("in/file/deep") == "nowhere"
    root.put("in", source)
    assert root.link("in") == "nowhere"


def test_a_link_above_is_told_from_a_file_above(root: Beneath) -> None:
    told = {path: root.through_link(path) for path in ("far/file", "in/up/x/y", "far", "in/file/x", "gone/x", "in/file")}
    assert told == {"far/file": True, "in/up/x/y": True, "far": False, "in/file/x": False, "gone/x": False, "in/file": False}


def test_remove_takes_empty_folders_along_and_no_others(root: Beneath) -> None:
    root.write("a/b/c", b"")
    root.write("a/d", b"")
    root.remove("a/b/c")
    root.remove("a/b/gone")
    root.remove("a")
    assert root.names("a") == ["d"]


def test_devices_fifos_and_sockets_are_refused_at_once(root: Beneath) -> None:
    os.mkfifo(root.folder / "pipe")
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as listener, contextlib.chdir(root.folder):
        listener.bind("socket")
    for path in ("pipe", "socket", "out"):
        with pytest.raises(NotRegularError):
            root.read(path)
    with pytest.raises(NotRegularError):
        Beneath(Path("/dev")).read("null")
    with pytest.raises(IsADirectoryError):
        root.read("in")


@pytest.mark.parametrize("flag", [beneath.PASSING, os.O_RDONLY], ids=["here", "where there is no O_PATH"])
def test_nothing_outside_is_reached_while_a_folder_and_a_link_are_swapped(root: Beneath, flag: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each operation some hundred times; the link that `put` takes away is made again."""
    monkeypatch.setattr(beneath, "PASSING", flag)
    place = root.folder.parent
    before = outside(place)
    with swapping(root.folder / "in", root.folder / "far"):
        for number in range(100):
            for operation, act in OPERATIONS.items():
                with contextlib.suppress(OSError):
                    told = act(
                        root, f"in/{number % 5}" if operation in ("write", "put") else "in" if operation == "names" else "in/file", place / "source"
                    )
                    assert told != b"outside"
            _rearm(root)
    assert outside(place) == before
    assert os.listdir(place / "far") == ["file"]  # noqa: PTH208 - names only


def _rearm(root: Beneath) -> None:
    with contextlib.suppress(OSError):
        if not (root.folder / "in").is_symlink() and not (root.folder / "far").is_symlink():
            shutil.rmtree(root.folder / "far")
            (root.folder / "far").symlink_to("../far")
        root.write("in/file", b"inside")
