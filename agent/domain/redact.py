"""Takes secrets out of text before anyone sees, keeps or commits it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

REDACTED = "[redacted]"

_SECRET_NAME = re.compile(r"_KEY$|_TOKEN$|^TOKEN$|SECRET|PASSWORD|PASSWD|_KEY_ID$", re.IGNORECASE)
_SHORTEST = 8  # shorter values are words such as "test" or "none", and no provider's keys

# What a secret's value looks like where only its surroundings give it away: it has a digit, so `key=itemgetter` stays.
_VALUE = r"(?=[A-Za-z._~+/=%-]*\d)[\w.~+/=%-]{8,}"
_SHAPES = re.compile(
    rf"""
      (?P<before> \b[\w-]*(?:key|token|secret|password|signature)["']?\s?[=:]\s?["']? | \bBearer\s+ | \bBasic\s+ ) {_VALUE}
    | (?P<scheme> \b[a-z][a-z0-9+.-]*:// ) [^\s/@:]+ : [^\s/@]+ (?=@)
    | \b (?: [spr]k-[\w*.-]{{8,}} | gh[opsur]_\w{{16,}} | github_pat_\w{{16,}} | glpat-[\w-]{{16,}} | AIza[\w-]{{20,}} | A[KS]IA[A-Z0-9]{{12,}}
         | xox[abprs]-[\w-]{{8,}} | (?:hf|gsk)_\w{{16,}} | xai-\w{{16,}} | eyJ[\w-]{{10,}}\.eyJ[\w-]{{10,}}\.[\w-]{{10,}} )
    """,
    re.VERBOSE | re.IGNORECASE,
)


def redact(text: str, env: Mapping[str, str]) -> str:
    """`text` with "[redacted]" for each value of a secret variable of `env` and for whatever has the shape of a key.

    Secret are variables named *_KEY, *_TOKEN, *SECRET* or *PASSWORD* whose value has at least 8 characters, also where that value stands
    percent-encoded. Shapes are `key=…`, `Bearer …`, `sk-…`, `scheme://user:password@` and the providers' own prefixes.
    """
    values = sorted(_secret_values(env), key=len, reverse=True)  # the longest first: one may begin another
    if values:
        text = re.sub("|".join(map(re.escape, values)), REDACTED, text)
    return _SHAPES.sub(_keep_surroundings, text)


def _secret_values(env: Mapping[str, str]) -> set[str]:
    plain = {value.strip() for name, value in env.items() if _SECRET_NAME.search(name)}
    return {form for value in plain if len(value) >= _SHORTEST for form in (value, quote(value, safe=""))}


def _keep_surroundings(match: re.Match[str]) -> str:
    return f"{match['before'] or match['scheme'] or ''}{REDACTED}"
