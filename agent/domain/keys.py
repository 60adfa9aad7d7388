"""What a key is: by the name of its variable, by the variable's value, and by the shape that its issuer gave it.

The gate refuses what is certainly one; `redact` takes out all that the gate refuses, and what may be one too.
"""

from __future__ import annotations

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote

KEY_ENV = "AGENTCTL_KEY_ENV"
"""The variable that says which one holds the model's key, whatever that is called."""

SHORTEST = 8
"""Characters; shorter values are words such as "test" or "none", and no provider's keys."""

_LONG_LINE = 24  # characters of a line of a longer value that give it away alone; a PEM key has 64

_NAME = re.compile(
    r"SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|KEY$|TOKEN$"
    r"|(?:^|[_-])(?:KEY|KEYS|APIKEY|TOKEN|PASS|PAT)(?:[_-]|$)|[_-]PWD$",
    re.IGNORECASE,
)
_NAME_OF_A_PLACE = re.compile(r"[_-](?:FILE|PATH|DIR|FOLDER|SOCK|STORE|COMMAND|CMD)$", re.IGNORECASE)
_PLACE = re.compile(r"(?:~|\.{1,2})?/.*", re.DOTALL)
_BASE64 = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9+/]{32,}={0,2}")
# What everybody knows, and what stands in innocent text; all have eight characters or more.
_NO_SECRETS = frozenset(
    """
    administrator changeit changeme database default development disabled enabled inherited localhost minioadmin optional password
    password1 passw0rd postgres postgresql production rootpassword testpassword testtest undefined username
    """.split()  # noqa: SIM905 - as a list it would fill a page
)

# Prefixes as their issuers document them; a pattern stands here only where a hit is almost never a false one. Before it are pieces of which each
# such key has one: to look for those is quicker than to compile the pattern, and most texts have none.
KINDS: Mapping[str, tuple[str, str]] = {
    "an AWS access key id": ("AKIA ASIA", r"(?:AKIA|ASIA)[A-Z2-7]{16}"),
    "a GitHub token": ("ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    "a GitLab token": ("glpat- gldt- glrt- glptt-", r"gl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{20,}"),
    "an Anthropic key": ("sk-ant-", r"sk-ant-[a-z0-9]+-[A-Za-z0-9_-]{32,}"),
    "an OpenRouter key": ("sk-or-v1-", r"sk-or-v1-[0-9a-f]{64}"),
    "an OpenAI key": (
        "sk-proj- sk-svcacct- sk-admin- T3BlbkFJ",
        r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}",
    ),
    "a Groq key": ("gsk_", r"gsk_[A-Za-z0-9]{52}"),
    "a Google API key": ("AIza", r"AIza[A-Za-z0-9_-]{35}"),
    "a Google OAuth secret": ("GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{28}"),
    "a Hugging Face token": ("hf_", r"hf_[A-Za-z]{34}"),
    "a Slack token": ("xox xapp-", r"xox[abeoprs]-(?:[0-9]+-)+[A-Za-z0-9]{16,}|xapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-f0-9]{32,}"),
    "a Slack webhook": ("hooks.slack.com", r"hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{20,}"),
    "a Stripe live key": ("k_live_", r"[sr]k_live_[A-Za-z0-9]{24,}"),
    "a SendGrid key": ("SG.", r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    "a Twilio key": ("SK", r"SK[0-9a-f]{32}"),
    "an npm token": ("npm_", r"npm_[A-Za-z0-9]{36}"),
    "a PyPI token": ("pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    "a DigitalOcean token": ("_v1_", r"do[oprt]_v1_[0-9a-f]{64}"),
    "a Databricks token": ("dapi", r"dapi[0-9a-f]{32}(?:-\d)?"),
    "a Shopify token": ("shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    "a Telegram bot token": (":AA", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
    "a HashiCorp Vault token": ("hvb. hvs.", r"hv[bs]\.[A-Za-z0-9_-]{24,}"),
    "an Azure storage key": ("AccountKey=", r"AccountKey=[A-Za-z0-9+/]{86}=="),
    "a Discord bot token": (".", r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}"),
    "a Mailchimp key": ("-us", r"[0-9a-f]{32}-us[0-9]{1,2}"),
    "a Square token": ("sq0", r"sq0(?:atp|csp)-[A-Za-z0-9_-]{22,60}"),
    "an xAI key": ("xai-", r"xai-[A-Za-z0-9]{70,90}"),
    "a Perplexity key": ("pplx-", r"pplx-[A-Za-z0-9]{40,60}"),
    "a Replicate token": ("r8_", r"r8_[A-Za-z0-9]{37}"),
    "a Docker token": ("dckr_pat_", r"dckr_pat_[A-Za-z0-9_-]{27,40}"),
    "a Grafana token": ("glsa_", r"glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}"),
    "a Sentry token": ("sntrys_", r"sntrys_[A-Za-z0-9+/=_-]{60,}"),
    "a Linear key": ("lin_api_", r"lin_api_[A-Za-z0-9]{40}"),
    "a Figma token": ("figd_", r"figd_[A-Za-z0-9_-]{40,}"),
    "a Postman key": ("PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    "a New Relic key": ("NRAK-", r"NRAK-[A-Z0-9]{27}"),
    "a RubyGems key": ("rubygems_", r"rubygems_[0-9a-f]{48}"),
    "an Atlassian token": ("ATATT3", r"ATATT3[A-Za-z0-9_=-]{60,}"),
    "a Terraform Cloud token": (".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,70}"),
    "a Supabase token": ("sbp_", r"sbp_[0-9a-f]{40}"),
    "a JSON Web Token": (".eyJ", r"eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{20,}"),
    "an age secret key": ("AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
}
PRIVATE_KEY = re.compile(r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY(?: BLOCK)?-----")
"""The header of a private key. It also stands in code that reads keys: a key has `KEY_BYTES` after it."""

KEY_BYTES = re.compile(r"[A-Za-z0-9+/=]{40}")
"""A piece of a private key's bytes."""


def well_known(text: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    """The kinds of keys that may be in `text`, each with the pattern that finds them."""
    for kind, (pieces, pattern) in KINDS.items():
        if any(piece in text for piece in pieces.split()):
            yield kind, re.compile(rf"(?<![A-Za-z0-9_])(?:{pattern})(?![A-Za-z0-9])")


def speaks_of_a_key(name: str) -> bool:
    """Whether a variable called `name` is meant to hold a key or password, and not the place of one."""
    return bool(_NAME.search(name)) and not _NAME_OF_A_PLACE.search(name)


def own_keys(environment: Mapping[str, str]) -> dict[str, str]:
    """All that gives a key of `environment` away, each with the name of its variable.

    Keys are the values (stripped, at least `SHORTEST` characters) of variables whose names speak of one, and of the variable that
    `KEY_ENV` names. They give themselves away as they are, percent-encoded, in base64 and hexadecimal, and by each long line of them.
    """
    named = environment.get(KEY_ENV, "")
    found: dict[str, str] = {}
    for name, value in environment.items():
        plain = value.strip()
        if len(plain) >= SHORTEST and (name == named or (speaks_of_a_key(name) and not _is_innocent(plain))):
            for form in _forms(plain):
                found.setdefault(form, name)
    return found


def _is_innocent(value: str) -> bool:
    """A word that everybody knows, or a path: unless it is base64, which may begin with a slash as well."""
    return value.lower() in _NO_SECRETS or bool(_PLACE.fullmatch(value) and not _BASE64.fullmatch(value))


def _forms(value: str) -> list[str]:
    lines = [line.strip() for line in value.replace("\\n", "\n").split("\n")] if "\n" in value or "\\n" in value else []
    return [
        value,
        quote(value, safe=""),
        *_encoded(value.encode("utf-8", "surrogateescape")),
        *(line for line in lines if len(line) >= _LONG_LINE and not line.startswith("-----")),
    ]


def _encoded(value: bytes) -> Iterable[str]:
    """What stands in any base64 (with `+/` or `-_`) and hexadecimal of a text that holds `value`, whatever stands before and after it there."""
    found = {value.hex(), value.hex().upper()}
    for before in range(3):
        first, last = -(-before * 8 // 6), (before + len(value)) * 8 // 6  # the characters that nothing else has a say in
        found |= {encode(bytes(before) + value).decode()[first:last] for encode in (b64encode, urlsafe_b64encode)}
    return found
