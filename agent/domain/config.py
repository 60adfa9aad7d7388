"""The repository's settings, each with its default and what it means; the template of `init` is made from them."""

from __future__ import annotations

from dataclasses import dataclass, fields

from agent.domain.frontmatter import Head, read_mapping

PATH = "config.yaml"


@dataclass(frozen=True)
class Limits:
    """What one step may use, and how often an item is tried."""

    calls: int = 60
    usd: float = 2.0
    minutes: float = 30.0
    attempts: int = 3
    lines: int = 3000
    file_bytes: int = 1_000_000
    check_minutes: float = 10.0


@dataclass(frozen=True)
class Config:
    """`.agent/config.yaml`. An empty `model` means: whatever AGENTCTL_MODEL or the person's own config names."""

    model: str = ""
    checks: tuple[str, ...] = ()
    brief_tokens: int = 12_000
    limits: Limits = Limits()


_KNOWN = ("model", "checks", "brief_tokens", "limits")
_ELSEWHERE = ("api_base", "api_key", "key_env", "proxy")


def parse_config(text: str, path: str = ".agent/config.yaml") -> Config:
    """The settings in `text`. Raises BadFileError for a key that isn't known, since a typo would silently mean the default."""
    head = read_mapping(text, path)
    _refuse_unknown(head, _KNOWN)
    section = head.section("limits")
    _refuse_unknown(section, tuple(field.name for field in fields(Limits)))
    return Config(
        model=head.text("model") or "",
        checks=tuple(check for check in head.texts("checks") if check.strip()),
        brief_tokens=int(_positive(head, "brief_tokens", Config.brief_tokens)),
        limits=_limits(section),
    )


def _limits(section: Head) -> Limits:
    default = Limits()
    values = {field.name: _positive(section, field.name, getattr(default, field.name)) for field in fields(Limits)}
    return Limits(
        calls=int(values["calls"]),
        usd=values["usd"],
        minutes=values["minutes"],
        attempts=int(values["attempts"]),
        lines=int(values["lines"]),
        file_bytes=int(values["file_bytes"]),
        check_minutes=values["check_minutes"],
    )


def _positive(head: Head, key: str, default: float) -> float:
    number = head.number(key)
    if number is None:
        return default
    if number <= 0:
        raise head.bad(key, f"{key} wants a number above 0", f"write {key}: {default:g}, or leave the line out")
    return number


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
