"""Whole outputs of commands, for the session that ran them: named like paths that no work tree has."""

from __future__ import annotations

import re

from agent.errors import AgentctlError
from agent.worker.tools.base import Desk

_NAME = re.compile(r"@output/([0-9]{1,9})")
_KEPT = 12  # outputs; each of at most some 1.3 MB


def kept_output(output: str, desk: Desk) -> str:
    """Keep `output`; gives the name by which `read` shows it. Of many only the newest are kept."""
    desk.outputs.append(output)
    if len(desk.outputs) > _KEPT:
        desk.outputs[-_KEPT - 1] = ""
    return f"@output/{len(desk.outputs)}"


def output_named(path: str, desk: Desk) -> str | None:
    """The output that `path` names; None where it is a path like any other. Raises AgentctlError for one that isn't kept."""
    named = _NAME.fullmatch(path)
    if named is None:
        return None
    place = int(named[1])
    if not 0 < place <= len(desk.outputs) or not desk.outputs[place - 1]:
        raise AgentctlError(f"{path} isn't kept any more.", "Run the command again.")
    return desk.outputs[place - 1]
