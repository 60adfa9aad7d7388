"""Telling a person that what was spent has passed an amount of theirs, by a command of theirs."""

from __future__ import annotations

import os

from agent.domain.config import Alert
from agent.domain.events import Alerted, Listener
from agent.domain.text import one_line
from agent.errors import AgentctlError
from agent.ledger import Purse
from agent.repository.repo import Repo
from agent.worker.shell import clean_environment, run_command

_SECONDS = 30.0
_DESKTOP = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")  # what notify-send and its kind need


def alert(repo: Repo, wanted: Alert, purse: Purse, listen: Listener) -> None:
    """Run the command for each amount that is passed and was not told before; whatever comes of it, the step goes on.

    The command is the repository's: it gets no keys, and the words in variables rather than in its text.
    """
    for amount, spent in purse.passed(wanted.usd):
        said = f"agentctl has spent {spent:.2f} USD in {repo.root.name}, and passed {amount:g} USD"
        listen(Alerted(said, _run(repo, wanted.command, said, amount, spent) if wanted.command else ""))


def _run(repo: Repo, command: str, said: str, amount: float, spent: float) -> str:
    """Why the command failed, "" where it didn't."""
    desktop = {name: os.environ[name] for name in _DESKTOP if name in os.environ}
    told = {"AGENTCTL_ALERT": said, "AGENTCTL_AMOUNT": f"{amount:g}", "AGENTCTL_SPENT": f"{spent:.4f}"}
    try:
        ended = run_command(command, cwd=repo.root, env={**clean_environment(os.environ), **desktop, **told}, timeout=_SECONDS)
    except AgentctlError as error:
        return error.message
    if ended.code == 0:
        return ""
    how = f"timed out after {_SECONDS:g} s" if ended.timed_out else f"exit code {ended.code}"
    return f"{how}: {one_line(ended.output, 200)}".removesuffix(": ")
