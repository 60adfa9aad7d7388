"""The repository's settings, each with its default and what it means; the template of `init` is made from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from agent.domain.frontmatter import Head, read_mapping
from agent.domain.price import Price
from agent.errors import AgentctlError

PATH = "config.yaml"


class Limits(Struct, frozen=True):
    """What one step may use, how often an item is tried, and what may be spent in a day (UTC) and in all. Infinite: no cap."""

    calls: int = 60
    usd: float = 2.0
    minutes: float = 30.0
    attempts: int = 3
    lines: int = 3000
    file_bytes: int = 1_000_000
    check_minutes: float = 10.0
    day_usd: float = math.inf
    day_tokens: float = math.inf
    total_usd: float = math.inf
    total_tokens: float = math.inf


class Alert(Struct, frozen=True):
    """When what was spent in all passes one of the amounts in `usd`, `command` is run, once for each."""

    usd: tuple[float, ...] = ()
    command: str = ""


class SandboxSettings(Struct, frozen=True):
    """How commands are confined. `kind` is a mechanism's name, `auto` or `none`; `network_for` are commands that may use the network."""

    kind: str = "auto"
    network: bool = False
    network_for: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    processes: int = 2000
    file_bytes: int = 10_000_000_000
    memory_bytes: int = 0

    def may_connect(self, command: str) -> bool:
        """Whether `command` may use the network."""
        return self.network or command in self.network_for


NO_SANDBOX = "none"
KINDS = ("auto", "bubblewrap", "landlock", "sandbox-exec", NO_SANDBOX)
_SANDBOX_VARIABLE = "AGENTCTL_SANDBOX"


def sandbox_kind(settings: SandboxSettings, environment: Mapping[str, str]) -> str:
    """The kind of sandbox to use: a machine that is unlike the others says so in its environment. Raises AgentctlError for one that isn't known."""
    named = environment.get(_SANDBOX_VARIABLE, "")
    if named and named not in KINDS:
        raise AgentctlError(f"{_SANDBOX_VARIABLE}={named} is no sandbox", "set one of " + ", ".join(KINDS))
    return named or settings.kind


class Config(Struct, frozen=True):
    """`.agent/config.yaml`. An empty `model` means: whatever AGENTCTL_MODEL or the person's own config names.

    `setup` are commands that fetch what `checks` need, with the network, when what they are made from has changed.

    `transcripts` says where conversations are kept: `off` (nowhere), `local` (in the git directory) or `encrypted` (in the step's commit, for
    `recipients`: age or SSH public keys). `push_wip` names the remote that gets work in progress, "" none.
    """

    model: str = ""
    checks: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    brief_tokens: int = 12_000
    limits: Limits = Limits()
    alert: Alert = Alert()
    prices: Mapping[str, Price] = field(default_factory=dict)
    transcripts: str = "off"
    recipients: tuple[str, ...] = ()
    push_wip: str = ""

    sandbox: SandboxSettings = SandboxSettings()


_PRICE = ("input", "cached", "written", "output")
_TRANSCRIPTS = ("off", "local", "encrypted")
_RECIPIENTS = ("age1", "ssh-ed25519 ", "ssh-rsa ")
_ELSEWHERE = ("api_base", "api_key", "key_env", "proxy")


def parse_config(text: str, path: str = ".agent/config.yaml") -> Config:
    """The settings in `text`. Raises BadFileError for a key that isn't known, since a typo would silently mean the default."""
    head = read_mapping(text, path)
    _refuse_unknown(head, Config.__struct_fields__)
    section = head.section("limits")
    _refuse_unknown(section, Limits.__struct_fields__)
    prices = head.section("prices")
    return Config(
        model=head.text("model") or "",
        checks=_commands(head, "checks"),
        setup=_commands(head, "setup"),
        brief_tokens=_whole(head, "brief_tokens", Config().brief_tokens),
        limits=_limits(section),
        alert=_alert(head.section("alert")),
        prices={name: _price(prices, name) for name in prices.nodes},
        **_transcripts(head),
        push_wip=head.text("push_wip") or "",
        sandbox=_sandbox(head),
    )


def _commands(head: Head, key: str) -> tuple[str, ...]:
    return tuple(command for command in head.texts(key) if command.strip())


def _sandbox(head: Head) -> SandboxSettings:
    """The settings below `sandbox:`, or just a kind in their place."""
    if head.is_text("sandbox"):
        return SandboxSettings(kind=_kind(head, "sandbox"))
    section = head.section("sandbox")
    _refuse_unknown(section, ("kind", "network", "read", "write", "env", "processes", "file_bytes", "memory_bytes"))
    default = SandboxSettings()
    network = section.texts("network")
    return SandboxSettings(
        kind=_kind(section, "kind"),
        network=network == ("true",),
        network_for=() if network in (("true",), ("false",)) else network,
        read=section.texts("read"),
        write=section.texts("write"),
        env=section.texts("env"),
        processes=_whole(section, "processes", default.processes),
        file_bytes=_whole(section, "file_bytes", default.file_bytes),
        memory_bytes=_whole(section, "memory_bytes", default.memory_bytes),
    )


def _kind(head: Head, key: str) -> str:
    kind = head.text(key) or SandboxSettings().kind
    if kind not in KINDS:
        raise head.bad(key, f"{kind} is no sandbox", "write one of " + ", ".join(KINDS))
    return kind


def _transcripts(head: Head) -> dict[str, Any]:
    kind = head.text("transcripts") or "off"
    recipients = tuple(text.strip() for text in head.texts("recipients"))
    if kind not in _TRANSCRIPTS:
        raise head.bad("transcripts", f"{kind} is no way to keep transcripts", "write transcripts: off, local or encrypted")
    if kind == "encrypted" and not recipients:
        raise head.bad("transcripts", "transcripts can't be encrypted for nobody", "add recipients: [age1…], with your public key (age-keygen)")
    for text in recipients:
        if not text.startswith(_RECIPIENTS):
            raise head.bad("recipients", f"{text[:40]} is no recipient", "write an age1… key, or an ssh-ed25519 or ssh-rsa public key")
    return {"transcripts": kind, "recipients": recipients}


def _limits(section: Head) -> Limits:
    default = Limits()
    values = {name: _positive(section, name, getattr(default, name)) for name in Limits.__struct_fields__}
    whole = {name: _whole(section, name, getattr(default, name)) for name in ("calls", "attempts", "lines", "file_bytes")}
    return Limits(**{**values, **whole})  # type: ignore[arg-type]  # the whole numbers are


def _alert(section: Head) -> Alert:
    _refuse_unknown(section, Alert.__struct_fields__)
    command = section.text("command") or ""
    amounts = []
    for text in section.texts("usd"):
        try:
            amounts.append(float(text))
        except ValueError:
            amounts.append(math.nan)
    if not all(0 < amount < math.inf for amount in amounts):
        raise section.bad("usd", "usd wants amounts above 0", "write usd: [5, 20]")
    if command and not amounts:
        raise section.bad("command", "command is never run without an amount", "write usd: [5, 20] beside it")
    return Alert(tuple(amounts), command)


def _price(prices: Head, name: str) -> Price:
    section = prices.section(name)
    _refuse_unknown(section, _PRICE)
    rates = {key: rate for key in _PRICE if (rate := section.number(key)) is not None}
    if "input" not in rates or "output" not in rates or not all(0 <= rate < math.inf for rate in rates.values()):
        raise prices.bad(
            name, f"the price of {name} wants input and output, in USD for a million tokens", "write {input: 1.0, cached: 0.1, output: 5.0}"
        )
    return Price(rates["input"], rates.get("cached", rates["input"]), rates["output"], rates.get("written"))


def _positive(head: Head, key: str, default: float) -> float:
    number = head.number(key)
    if number is None:
        return default
    if not 0 < number < math.inf:
        raise head.bad(key, f"{key} wants a number above 0", f"write {key}: {10 if math.isinf(default) else default:g}, or leave the line out")
    return number


def _whole(head: Head, key: str, default: int) -> int:
    number = _positive(head, key, default)
    if number != int(number):
        raise head.bad(key, f"{key} wants a whole number", f"write {key}: {max(1, int(number))}")
    return int(number)


def _refuse_unknown(head: Head, known: tuple[str, ...]) -> None:
    for key in head.nodes:
        if key in _ELSEWHERE:
            raise head.bad(
                key,
                f"{key} can't be set in the repository: a clone could send your key elsewhere",
                f"set it in ~/.config/agentctl/config.yaml, or with --{key.replace('_', '-')}",
            )
        if key not in known:
            raise head.bad(key, f"{key} is no setting", "the settings are " + ", ".join(known))
