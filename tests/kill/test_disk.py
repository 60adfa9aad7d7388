"""A disk that is full, or can't be written, costs a sentence and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kill.disk import Disk, NoDiskError, small_disk

ROOMS = (0, 44, 64)  # KiB; `make disk-test` tries every amount


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Disk]:
    try:
        with small_disk(tmp_path_factory.mktemp("small") / "disk") as folder:
            yield Disk(folder)
    except NoDiskError as error:
        pytest.skip(f"no small disk can be mounted here: {error}")


@pytest.mark.parametrize("room", ROOMS)
def test_a_full_disk_is_told_in_a_sentence_and_the_step_goes_on_once_there_is_room(disk: Disk, room: int) -> None:
    landed, faults = disk.with_room(room * 1024)
    assert (landed, faults) == (False, [])


def test_a_disk_that_cannot_be_written_is_told_in_a_sentence(disk: Disk) -> None:
    disk.again()
    with disk.read_only():
        code, said = disk.run()
        assert (code, disk.world.untouched()) == (1, []), said
    assert len([line for line in said.splitlines() if line.startswith("agentctl: ")]) == 1, said
    assert disk.goes_on() == []
