"""Which sandbox commands run in: the one that is asked for, or the first that holds here."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from agent.errors import AgentctlError
from agent.worker.sandbox.bubblewrap import Bubblewrap
from agent.worker.sandbox.landlock import Landlock
from agent.worker.sandbox.nothing import Nothing
from agent.worker.sandbox.protocol import Sandbox
from agent.worker.sandbox.seatbelt import Seatbelt
from agent.worker.sandbox.trial import Trial, failing, try_out

_WAYS = (
    "install bubblewrap (apt install bubblewrap, or pip install 'agentctl-git[sandbox]'); or run agentctl in a container or virtual machine of "
    "its own, with AGENTCTL_SANDBOX=none; or write `sandbox: none` into .agent/config.yaml, and commands can do whatever you can"
)


def mechanisms() -> tuple[Sandbox, ...]:
    """All that can confine a command, the best first."""
    return (Bubblewrap(), Landlock(), Seatbelt())


def choose(kind: str, trial_of: Callable[[Sandbox], Trial]) -> Sandbox:
    """The sandbox of that kind that `trial_of` says holds here; of `auto` the first. Raises AgentctlError that says why none does, and the ways on."""
    if kind == Nothing.name:
        return Nothing()
    reasons = []
    for sandbox in mechanisms():
        if kind not in ("auto", sandbox.name):
            continue
        reason = sandbox.absent() or failing(sandbox, trial_of(sandbox))
        if not reason:
            return sandbox
        reasons.append(f"{sandbox.name}: {reason}")
    raise AgentctlError(f"no sandbox for commands works here ({'; '.join(reasons)})", _WAYS)


@cache
def tried(name: str, situation: str = "") -> Trial:  # noqa: ARG001 - it is what a trial is cached by
    """What came of trying the mechanism of that name; once for each process and situation (see situation.py) that the caller tells apart."""
    return try_out(next(sandbox for sandbox in mechanisms() if sandbox.name == name))
