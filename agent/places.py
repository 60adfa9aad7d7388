"""Where agentctl's own files lie outside every repository (XDG Base Directory Specification)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def state_folder(environment: Mapping[str, str]) -> Path | None:
    """Where what agentctl knows of this machine lies; None without a home."""
    return _below(environment, "XDG_STATE_HOME", ".local/state")


def config_folder(environment: Mapping[str, str]) -> Path | None:
    """Where the person's own settings lie; None without a home."""
    return _below(environment, "XDG_CONFIG_HOME", ".config")


def _below(environment: Mapping[str, str], variable: str, usual: str) -> Path | None:
    home = environment.get("HOME")
    base = environment.get(variable) or (os.path.join(home, usual) if home else "")  # noqa: PTH118 - of a variable
    return Path(base) / "agentctl" if base else None
