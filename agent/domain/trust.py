"""What of `.agent/` runs on this machine, or loosens what holds there: code, which is shown and approved before its first time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from msgspec import Struct

from agent.domain.config import Config, SandboxSettings
from agent.domain.todo import Item


class Runs(Struct, frozen=True):
    """One thing that runs: of what `kind`, its `text` as it stands, and `where` it is from, for the eye. `under` is the folder of the list."""

    kind: str
    text: str
    where: str = ""
    under: str = ""

    @property
    def digest(self) -> str:
        """What an approval is of: wherever the same text of the same kind stands in this list, it is the same."""
        return hashlib.sha256(f"{self.kind}\0{self.under}\0{self.text}".encode("utf-8", "surrogatepass")).hexdigest()


def runs_of(config: Config, items: Iterable[Item] = (), under: str = "") -> tuple[Runs, ...]:
    """What the settings and the items of the list in the folder `under` ("" or "apps/web/") name, each once."""
    found = [Runs("check", check, "config.yaml", under) for check in config.checks]
    found += [Runs("setup with the network", command, "config.yaml", under) for command in config.setup]
    found += [Runs("alert", config.alert.command, "config.yaml", under)] if config.alert.command else []
    found += [Runs("sandbox", text, "config.yaml", under) for text in _loosened(config.sandbox)]
    found += [Runs("push of unfinished work", config.push_wip, "config.yaml", under)] if config.push_wip else []
    found += [Runs("check", check, f"todo/{item.id}.md", under) for item in items for check in item.checks]
    return tuple({one.digest: one for one in reversed(found)}.values())[::-1]


def _loosened(settings: SandboxSettings) -> list[str]:
    """What the sandbox lets through that it doesn't by itself."""
    usual = SandboxSettings()
    told = [f"kind: {settings.kind}"] if settings.kind != usual.kind else []
    told += ["network: true"] if settings.network else [f"network: {command}" for command in settings.network_for]
    for name in ("read", "write", "env"):
        told += [f"{name}: {value}" for value in getattr(settings, name)]
    return told
