"""How many files git had to read to tell whether they have changed: those of which the index knows another size or time, or one that says nothing yet."""

from __future__ import annotations

import re


def share_read(trace: bytes) -> float:
    """The share of the files in its index that a `git status` had to read, by what it wrote of itself (GIT_TRACE2_EVENT).

    1.0 where it doesn't tell, as before git 2.31.
    """
    counts = {key: int(number) for key, number in re.findall(rb'"key":"([a-z_/]+)","value":"(\d+)"', trace)}
    # After a first look by several threads a second one is left to these files; without that, which core.preloadIndex switches off, it is at all of them.
    read = counts.get(b"refresh/sum_lstat" if b"preload/sum_lstat" in counts else b"refresh/sum_scan")
    files = counts.get(b"read/cache_nr")
    return 1.0 if read is None or files is None else read / max(1, files)
