"""The person's own settings: `~/.config/agentctl/config.yaml`, outside every repository."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from agent.domain.frontmatter import read_mapping
from agent.places import config_folder, state_folder

_KNOWN = ("model", "api_base", "key_env")


class Personal(Struct, frozen=True):
    """Which model where the repository names none, and where models are reached; empty means litellm's own default."""

    model: str = ""
    api_base: str = ""
    key_env: str = ""


def personal(environment: Mapping[str, str]) -> Personal:
    """The person's settings; environment variables (AGENTCTL_API_BASE, AGENTCTL_KEY_ENV) win over the file. Raises BadFileError."""
    folder = config_folder(environment)
    stored = _read(folder / "config.yaml" if folder else None)
    return Personal(
        model=stored.model,
        api_base=environment.get("AGENTCTL_API_BASE", "") or stored.api_base,
        key_env=environment.get("AGENTCTL_KEY_ENV", "") or stored.key_env,
    )


def identity_file(environment: Mapping[str, str]) -> Path:
    """Where the key is that reads the person's encrypted transcripts."""
    return (config_folder(environment) or Path()) / "identity.txt"


def own_folders(environment: Mapping[str, str]) -> list[Path]:
    """Where a person's settings and approvals lie, all links followed: nobody else may write there."""
    return [Path(os.path.realpath(folder)) for folder in (state_folder(environment), config_folder(environment)) if folder]


def _read(path: Path | None) -> Personal:
    try:
        text = path.read_text("utf-8") if path else ""
    except (OSError, UnicodeDecodeError):
        return Personal()
    head = read_mapping(text, str(path))
    for key in head.nodes:
        if key not in _KNOWN:
            raise head.bad(key, f"{key} is no setting", "the settings are " + ", ".join(_KNOWN))
    return Personal(head.text("model") or "", head.text("api_base") or "", head.text("key_env") or "")
