"""A small disk that is full before a step has all the room that it needs, in every amount of room; and one that can't be written.

It doesn't import agentctl. As a command: `python -m tests.kill.disk [KIB]`: 0, KIB, 2 × KIB … of room, until a step survives.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.kill.world import AGAIN, Outcome, World

COMMAND = ("step", "write-one")
_SIZE = "16m"


class NoDiskError(Exception):
    """No file system can be mounted here."""


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of its own in `folder`, in memory. Raises NoDiskError where that isn't allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", str(folder)], capture_output=True, check=False)
    if done.returncode != 0:
        raise NoDiskError(done.stderr.decode().strip())
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


class Disk:
    """A world on a disk of its own, its folder for temporary files too. Each run begins with the same bytes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._base = folder / "base"
        self.world = World(folder / "world")
        shutil.copytree(folder / "world", self._base, symlinks=True)
        code, said = self.run()
        if code != 0:
            raise AssertionError(said)
        self.wanted: Outcome = self.world.outcome()

    def again(self) -> None:
        shutil.rmtree(self._folder / "world")
        shutil.copytree(self._base, self._folder / "world", symlinks=True)

    def run(self, *command: str) -> tuple[int, str]:
        return self.world.run(*(command or COMMAND))

    @contextlib.contextmanager
    def room(self, bytes_left: int) -> Iterator[None]:
        """So much room is left, and no more."""
        ballast = self._folder / "ballast"
        free = os.statvfs(self._folder)
        ballast.write_bytes(b"\0" * max(0, free.f_bavail * free.f_frsize - bytes_left))
        try:
            yield
        finally:
            ballast.unlink()

    def with_room(self, bytes_left: int) -> tuple[bool, list[str]]:
        """Whether a step lands with so much room, and what is wrong then, or once there is room again."""
        self.again()
        with self.room(bytes_left):
            code, said = self.run()
            faults = [*self.world.untouched(), *self._told_badly(code, said)]
        if code == 0:
            return True, faults
        return False, [*faults, *self.world.unsound(), *self.goes_on()]

    def _told_badly(self, code: int, said: str) -> list[str]:
        told = [line for line in said.splitlines() if line.startswith("agentctl: ")]
        good = code == 0 or (code == 1 and len(told) == 1 and "Traceback" not in said)
        return [] if good else [f"exit {code}: {said}"]

    def goes_on(self) -> list[str]:
        """What is wrong where the next step should go on."""
        code, said = self.run()
        if code not in AGAIN:
            return [f"with room again, exit {code}: {said}"]
        outcome = self.world.outcome()
        other = [f"another outcome: {outcome} instead of {self.wanted}"] if outcome != self.wanted else []
        return [*other, *self.world.untouched(), *self.world.unsound(), *self.world.leftovers(), *self.world.money()]

    @contextlib.contextmanager
    def read_only(self) -> Iterator[None]:
        """Nothing can be written."""
        subprocess.run(["mount", "-o", "remount,ro", str(self._folder)], check=True)
        try:
            yield
        finally:
            subprocess.run(["mount", "-o", "remount,rw", str(self._folder)], check=True)


def main() -> int:
    stride = int([*sys.argv, "4"][1]) * 1024
    wrong, runs, survived = 0, 0, 0
    with tempfile.TemporaryDirectory(prefix="agentctl-disk-") as place:
        try:
            with small_disk(Path(place) / "disk") as folder:
                disk = Disk(folder)
                room = 0
                while survived < 2:  # one may have been luck
                    landed, faults = disk.with_room(room)
                    survived = survived + 1 if landed else 0
                    wrong += bool(faults)
                    for fault in faults:
                        sys.stdout.write(f"FAULT with {room // 1024} KiB of room: {fault}\n")
                    sys.stdout.flush()
                    runs, room = runs + 1, room + stride
        except NoDiskError as error:
            sys.stderr.write(f"no small disk can be mounted here, so nothing was tried: {error}\n")
            return 1
    sys.stdout.write(f"{runs} amounts of room, up to {(room - stride) // 1024} KiB: {wrong} with faults\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
