"""Keys and passwords among the lines that a step adds: well-known prefixes, and the values of this process's own keys.

Prefixes as their issuers document them; a pattern stands here only where a hit is almost never a false one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from agent.domain.change import AddedLines
from agent.domain.text import one_line

_SHORTEST_VALUE = 12  # shorter values of variables stand in innocent text too
_PATH_WIDTH = 120

_KINDS: Mapping[str, str] = {
    "an AWS access key id": r"(?:AKIA|ASIA)[A-Z2-7]{16}",
    "a GitHub token": r"gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}",
    "a GitLab token": r"gl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{20,}",
    "an Anthropic key": r"sk-ant-[a-z0-9]+-[A-Za-z0-9_-]{32,}",
    "an OpenRouter key": r"sk-or-v1-[0-9a-f]{64}",
    "an OpenAI key": r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}",
    "a Groq key": r"gsk_[A-Za-z0-9]{52}",
    "a Google API key": r"AIza[A-Za-z0-9_-]{35}",
    "a Google OAuth secret": r"GOCSPX-[A-Za-z0-9_-]{28}",
    "a Hugging Face token": r"hf_[A-Za-z]{34}",
    "a Slack token": r"xox[abeoprs]-(?:[0-9]+-)+[A-Za-z0-9]{16,}|xapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-f0-9]{32,}",
    "a Slack webhook": r"hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{20,}",
    "a Stripe live key": r"[sr]k_live_[A-Za-z0-9]{24,}",
    "a SendGrid key": r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",
    "a Twilio key": r"SK[0-9a-f]{32}",
    "an npm token": r"npm_[A-Za-z0-9]{36}",
    "a PyPI token": r"pypi-AgE[A-Za-z0-9_-]{50,}",
    "a DigitalOcean token": r"do[oprt]_v1_[0-9a-f]{64}",
    "a Databricks token": r"dapi[0-9a-f]{32}(?:-\d)?",
    "a Shopify token": r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    "a Telegram bot token": r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}",
    "a HashiCorp Vault token": r"hv[bs]\.[A-Za-z0-9_-]{24,}",
    "an Azure storage key": r"AccountKey=[A-Za-z0-9+/]{86}==",
    "an age secret key": r"AGE-SECRET-KEY-1[0-9A-Z]{58}",
}
_PATTERNS = tuple((kind, re.compile(rf"(?<![A-Za-z0-9_])(?:{pattern})(?![A-Za-z0-9])")) for kind, pattern in _KINDS.items())

# The header alone also stands in code that reads keys; a key has its bytes after it, on the same line or the next.
_PRIVATE_KEY = re.compile(r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY(?: BLOCK)?-----")
_KEY_BYTES = re.compile(r"[A-Za-z0-9+/=]{40}")

_EXAMPLE = re.compile(r"example|placeholder|(?:x{8}|0{8}|\*{4})", re.IGNORECASE)
_KEY_WORDS = frozenset({"KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASS", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS"})


def secrets(added: AddedLines, environment: Mapping[str, str]) -> tuple[str, ...]:
    """One sentence for each line of `added` that holds a secret: file, line and kind, never the secret.

    Kinds are well-known prefixes, and the values (at least 12 characters) of variables in `environment` whose names speak of keys.
    """
    own = _own_keys(environment)
    return tuple(
        f"{one_line(path, _PATH_WIDTH)}:{number} holds what looks like {kind}: take it out and read it from the environment "
        "or from a file that git ignores."
        for path, lines in added.items()
        for number, kind in _hits(lines, own)
    )


def _hits(lines: Sequence[tuple[int, str]], own: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    for place, (number, text) in enumerate(lines):
        following = lines[place + 1][1] if place + 1 < len(lines) else ""
        kind = _own_value(text, own) or _prefixed(text) or _private_key(text, following)
        if kind:
            yield number, kind


def _own_keys(environment: Mapping[str, str]) -> dict[str, str]:
    """Variable names by value: those whose name speaks of a key and whose value is one, not a path to one."""
    return {
        value: name
        for name, value in environment.items()
        if len(value) >= _SHORTEST_VALUE and not value.startswith(("/", "~", "./")) and not _KEY_WORDS.isdisjoint(name.upper().split("_"))
    }


def _own_value(text: str, own: Mapping[str, str]) -> str:
    return next((f"the value of ${name}" for value, name in own.items() if value in text), "")


def _prefixed(text: str) -> str:
    for kind, pattern in _PATTERNS:
        if any(not _EXAMPLE.search(match[0]) for match in pattern.finditer(text)):
            return kind
    return ""


def _private_key(text: str, following: str) -> str:
    header = _PRIVATE_KEY.search(text)
    if header and (_KEY_BYTES.search(text, header.end()) or _KEY_BYTES.search(following)):
        return "a private key"
    return ""
