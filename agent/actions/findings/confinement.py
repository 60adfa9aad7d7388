"""What keeps commands in bounds: the sandbox, and a person's approval."""

from __future__ import annotations

from collections.abc import Iterator

from agent.actions.findings.finding import Finder, Finding, Look
from agent.domain.config import NO_SANDBOX, SandboxSettings, sandbox_kind


def sandbox(look: Look) -> Iterator[Finding]:
    """No sandbox holds here, none is wanted, or one that leaves something open. Raises AgentctlError where a step would be refused for it."""
    from agent.actions.shells import findings_for  # noqa: PLC0415  # `status`, which imports this package, needn't pay for it
    from agent.worker.sandbox.choice import choose  # noqa: PLC0415  # as above
    from agent.worker.sandbox.trial import limits_processes  # noqa: PLC0415  # as above

    kind = sandbox_kind(look.config.sandbox if look.config else SandboxSettings(), look.environment)
    if kind == NO_SANDBOX:
        yield Finding("warning", "commands run without a sandbox and can do whatever you can", "sandbox: auto, in .agent/config.yaml")
        return
    chosen = choose(kind, findings_for(look.environment).anew)
    if not limits_processes(chosen):
        text = "nothing keeps a command from starting processes without end: you are root, and no control group that counts them can be made here"
        yield Finding("info", text, "run agentctl as another user, or in a container with a limit of its own")
    for gap in chosen.gaps.values():
        yield Finding("warning", f"the sandbox is {chosen.told}: {gap}", "install bubblewrap, or pip install 'agentctl-git[sandbox]'")


def trust(look: Look) -> Iterator[Finding]:
    """Something that would run here, and that nobody has approved."""
    from agent.actions.trust import waiting  # noqa: PLC0415  # as above

    runs = waiting(look.repo)
    if runs:
        kinds = ", ".join(dict.fromkeys(one.kind for one in runs))
        yield Finding("warning", f"what would run here isn't approved on this machine yet: {kinds}", "agentctl trust")


CONFINEMENT: tuple[Finder, ...] = (sandbox, trust)
