"""This machine: git, litellm, the model and its key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agent.actions.findings.finding import Finder, Finding, Look
from agent.domain.text import one_line
from agent.errors import AgentctlError
from agent.model.warm import MINUTES, warm_processes, warmth_for
from agent.personal import personal
from agent.repository.revert import git_version
from agent.transcripts import check_keeping

_POISONED = ("1.82.7", "1.82.8")
_POISONED_LINE = "1.107."
_OLD_GIT = (
    ((2, 36), "knows no core.fsync, so a power cut can take a step that had landed"),
    ((2, 38), "is too old for agentctl undo; git revert by hand does as well"),
)
# Where the provider's own library looks for the key; any one of them will do. Who isn't named here isn't judged.
_KEYS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "mistral": ("MISTRAL_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "xai": ("XAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY", "OR_API_KEY"),
}
_FAMILIES = {"claude-": "anthropic", "gpt-": "openai"}


def old_git(look: Look) -> Iterator[Finding]:
    """A git that lacks what agentctl leans on."""
    version = git_version(look.repo)
    for wanted, why in _OLD_GIT:
        if version < wanted:
            shown = ".".join(map(str, version)) or "of unknown version"
            yield Finding("warning", f"git {shown} {why}", f"install git {'.'.join(map(str, wanted))} or newer")


def litellm_version(look: Look) -> Iterator[Finding]:  # noqa: ARG001  # finders have one shape
    """A release of litellm that steals keys, or none at all."""
    from importlib import metadata  # noqa: PLC0415  # 20 ms that `status`, which imports this package, needn't pay

    try:
        version = metadata.version("litellm")
    except metadata.PackageNotFoundError:
        yield Finding("error", "litellm isn't installed", "pip install 'litellm>=1.108,<1.111'")
        return
    if version in _POISONED or version.startswith(_POISONED_LINE):
        text = f"litellm {version} is a poisoned release that steals keys"
        yield Finding("error", text, "pip install 'litellm>=1.108,<1.111', and replace every key that this machine has held")


def model(look: Look) -> Iterator[Finding]:
    """No model is named anywhere, its recording isn't there, or its key is missing."""
    own = personal(look.environment)
    name = look.environment.get("AGENTCTL_MODEL", "") or (look.config.model if look.config else "") or own.model
    if not name:
        yield Finding("warning", "no model is named", "agentctl step --model NAME, or set AGENTCTL_MODEL, or `model:` in .agent/config.yaml")
        return
    scheme, _, place = name.partition(":")
    if scheme == "scripted":
        if not (look.repo.root / place).is_file():
            yield Finding("error", f"the recording that model {name} names isn't there", "mend `model:` in .agent/config.yaml, or AGENTCTL_MODEL")
        return
    keys = (own.key_env,) if own.key_env else () if own.api_base else _keys_of(name)
    if keys and not any(look.environment.get(key) for key in keys):
        yield Finding("warning", f"there is no key for {name}: {' and '.join(keys)} is not set", f"export {keys[0]}=…")


def _keys_of(name: str) -> tuple[str, ...]:
    provider, slash, _ = name.partition("/")
    if not slash:
        provider = next((provider for start, provider in _FAMILIES.items() if name.startswith(start)), "")
    return _KEYS.get(provider, ())


def warm(look: Look) -> Iterator[Finding]:
    """Processes that hold litellm ready for the next step."""
    try:
        wanted = warmth_for(look.environment)
    except AgentctlError as error:
        yield Finding("error", error.message, error.hint)
        return
    if wanted is None:  # the next step starts a process of its own all the same
        return
    for pid in warm_processes():
        text = f"process {pid} keeps litellm loaded, without keys, so that the next step starts at once; it ends by itself"
        yield Finding("info", text, f"export {MINUTES}=0 keeps none from now on; kill {pid} ends this one")


def transcripts(look: Look) -> Iterator[Finding]:
    """Conversations that are to be kept, but can't be."""
    if look.config is not None:
        try:
            check_keeping(look.config)
        except AgentctlError as error:
            yield Finding("error", error.message, error.hint)


def setup(look: Look) -> Iterator[Finding]:
    """What `setup:` fetches isn't there yet, or not for what HEAD says."""
    from agent.actions.setup import setup_due  # noqa: PLC0415  # `status`, which imports this package, needn't pay for it

    if look.config and look.status.head and setup_due(look.repo, look.config.setup, look.status.head):
        told = "; ".join(one_line(command) for command in look.config.setup)
        yield Finding("info", f"the next step runs setup first, with the network: {told}")


MACHINE: tuple[Finder, ...] = (old_git, litellm_version, model, warm, transcripts, setup)
