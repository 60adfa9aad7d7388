"""Files that a test runner loads before the tests, whatever they are called: its settings name them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath

from agent.gate.weakened.protocol import Sides

SETTINGS = (
    *(f"{tool}.config.{kind}" for tool in ("jest", "vitest", "vite") for kind in ("js", "cjs", "mjs", "ts", "mts", "json")),
    *(".mocharc.json", ".mocharc.js", ".mocharc.cjs", ".mocharc.yml", ".mocharc.yaml", ".mocharc.jsonc", "package.json", "bunfig.toml", ".npmrc"),
)
"""Names of the files that say so."""
_NAMES = (
    r"(?:\b(?:setupFiles\w*|globalSetup|globalTeardown|setupTestFrameworkScriptFile|testEnvironment|snapshotSerializers|require|file|import|preload)\b['\"]?\s*[:=]"
    r"|(?:^|\s)(?:--?(?:require|import|loader|experimental-loader|file)|-r)[ =])\s*(?P<told>\[[^\]]*\]|[^\n]*(?:\n\s*-\s[^\n]*)*)"
)
_FILE = r"[\w@.$/<>-]+"
JAVASCRIPTS = r"\.[cm]?[jt]sx?$"
"""Files that may be loaded so, by their endings."""


def pulled(changes: Sequence[Sides], paths: Collection[str]) -> frozenset[str]:
    """Those of `paths` that a runner's settings among `changes` name, before or after, as what is loaded first."""
    named = {name for side in changes if PurePosixPath(side.path).name in SETTINGS for name in _named(side)}
    return frozenset(path for path in paths if named and re.sub(JAVASCRIPTS, "", path) in named)


def _named(side: Sides) -> Iterator[str]:
    """What the settings name, as paths from the top without their endings."""
    folder = PurePosixPath(side.path).parent
    for text in (side.before, side.after):
        for match in re.finditer(_NAMES, text or ""):
            for word in re.findall(_FILE, match["told"]):
                yield re.sub(JAVASCRIPTS, "", str(folder / re.sub(r"^(?:<rootDir>/|\./|/)+", "", word)))
