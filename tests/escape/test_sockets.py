"""Sockets that programs outside listen at are out of reach, whatever name they were bound by and wherever they have got to since."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import chdir, closing, contextmanager
from pathlib import Path

import pytest

from agent.worker.sandbox import sockets
from agent.worker.sandbox.sockets import sockets_in
from tests.escape.world import World, python

REACH = python("s = socket.socket(socket.AF_UNIX); s.connect('{socket}'); print('rea' + 'ched', s.recv(4))")


@contextmanager
def served(folder: Path, name: str) -> Iterator[None]:
    """Somebody listens at `name`, bound in `folder`, and says hello."""
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        with chdir(folder):
            listener.bind(name)
        listener.listen()

        def answer() -> None:
            try:
                while True:
                    with closing(listener.accept()[0]) as one:
                        one.send(b"helo")
            except OSError:
                return

        threading.Thread(target=answer, daemon=True).start()
        yield
        listener.shutdown(socket.SHUT_RDWR)


def by_relative_name(tree: Path) -> tuple[Path, str, str]:
    return tree, "r.sock", "r.sock"


def by_dots(tree: Path) -> tuple[Path, str, str]:
    return tree / "deep", "../r.sock", "r.sock"


def by_a_link(tree: Path) -> tuple[Path, str, str]:
    (tree.parent / "alias").symlink_to(tree)
    return Path("/"), str(tree.parent / "alias" / "r.sock"), "r.sock"


def by_the_folder_of_a_process(tree: Path) -> tuple[Path, str, str]:
    return tree, "/proc/self/cwd/r.sock", "r.sock"


WAYS = (by_relative_name, by_dots, by_a_link, by_the_folder_of_a_process)


@pytest.mark.parametrize("way", WAYS)
def test_a_socket_is_hidden_whatever_name_it_was_bound_by(world: World, way: Callable[[Path], tuple[Path, str, str]]) -> None:
    root = world.project.root.resolve()
    (root / "deep").mkdir()
    folder, name, seen = way(root)
    with served(folder, name):
        assert "reached" not in world.run(REACH.replace("{socket}", seen))


def test_without_a_sandbox_it_is_reached(open_world: World) -> None:
    root = open_world.project.root.resolve()
    with served(root, "r.sock"):
        assert "reached b'helo'" in open_world.run(REACH.replace("{socket}", "r.sock"))


def test_a_command_that_moves_the_folder_of_a_socket_does_not_bring_the_next_one_to_it(world: World) -> None:
    root = world.project.root.resolve()
    (root / "run").mkdir()
    with served(root, str(root / "run/s")):
        world.run("mv run moved")
        assert "reached" not in world.run(REACH.replace("{socket}", "moved/s"))
        world.run("mkdir -p a/b && mv moved a/b/c")
        assert "reached" not in world.run(REACH.replace("{socket}", "a/b/c/s"))


def test_a_socket_with_two_names_is_hidden_by_both(world: World) -> None:
    root = world.project.root.resolve()
    with served(root, str(root / "r.sock")):
        os.link(root / "r.sock", root / "second.sock")
        assert "reached" not in world.run(REACH.replace("{socket}", "second.sock"))


def test_one_whose_program_went_elsewhere_is_searched_for(world: World) -> None:
    root = world.project.root.resolve()
    (root / "deep/er").mkdir(parents=True)
    script = "import os, socket, time\ns = socket.socket(socket.AF_UNIX); s.bind('s'); s.listen(); os.chdir('/'); print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", script], cwd=root / "deep/er", stdout=subprocess.PIPE) as program:
        try:
            assert program.stdout
            program.stdout.readline()
            assert sockets_in([root], [root]) == [root / "deep/er/s", root / "s.sock"]
            said = world.run(python("socket.socket(socket.AF_UNIX).connect('deep/er/s'); shout()"))
            assert "E-S-C-A-P-E-D" not in said
        finally:
            program.kill()


def test_what_is_nowhere_in_the_tree_is_searched_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, outside = tmp_path / "tree", tmp_path / "outside"
    tree.mkdir()
    outside.mkdir()
    with served(outside, str(outside / "s")):
        (outside / "s").rename(outside / "t")
        assert sockets_in([tree], [tree]) == []
        monkeypatch.setattr(os, "scandir", lambda _: pytest.fail("searched again"))
        assert sockets_in([tree], [tree]) == []


def test_where_the_kernel_tells_no_inodes_names_are_gone_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "_SOCK_DIAG", 31)
    with served(tmp_path, str(tmp_path / "s")), served(tmp_path, "relative"), chdir(tmp_path):
        assert sockets_in([tmp_path], []) == [tmp_path / "relative", tmp_path / "s"]
