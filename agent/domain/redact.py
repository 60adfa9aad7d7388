"""Takes secrets out of text before anyone sees, keeps or commits it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from agent.domain.keys import KEY_BYTES, PRIVATE_KEY, own_keys, well_known

REDACTED = "[redacted]"

# What a secret's value looks like where only its surroundings give it away: it has a digit, so `key=itemgetter` stays.
# Whatever looks ahead is bounded: a megabyte of a command's output takes no longer than its length.
_VALUE = r"(?=[A-Za-z._~+/=%-]{0,200}\d)[\w.~+/=%-]{8,}"
_SHAPES = re.compile(
    rf"""
      (?P<before> (?:key|token|secret|password|signature)["']?\s?[=:]\s?["']? | \bBearer\s+ | \bBasic\s+ ) {_VALUE}
    | (?P<scheme> \b[a-z][a-z0-9+.-]{{0,30}}:// ) [^\s/@:]+ : [^\s/@]+ (?=@)
    | \b (?: [spr]k-[\w*.-]{{8,}} | gh[opsur]_\w{{16,}} | github_pat_\w{{16,}} | glpat-[\w-]{{16,}} | AIza[\w-]{{20,}} | A[KS]IA[A-Z0-9]{{12,}}
         | xox[abprs]-[\w-]{{8,}} | (?:hf|gsk)_\w{{16,}} | xai-\w{{16,}} | eyJ[\w-]{{10,2000}}\.eyJ[\w-]{{10,}}\.[\w-]{{10,}} )
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Line breaks may stand as `\n`, in code; the last, shorter line has its footer after it, unless that was cut off.
_BREAK = r"(?:\\[nr]|[^A-Za-z0-9+/=\-]){1,80}"
_BLOCK = re.compile(
    rf"(?P<header>{PRIVATE_KEY.pattern})(?:[^-]{{0,400}}?){KEY_BYTES.pattern}[A-Za-z0-9+/=]*"
    rf"(?:{_BREAK}[A-Za-z0-9+/=]{{16,}})*(?:{_BREAK}[A-Za-z0-9+/=]{{1,15}}(?={_BREAK}-----END))?"
)


def redact(text: str, env: Mapping[str, str]) -> str:
    """`text` with "[redacted]" for each key of `env` (see `own_keys`), for whatever is a well-known key, and for what has the shape of one.

    Shapes are `key=…`, `Bearer …`, `sk-…`, `scheme://user:password@`, and the providers' own prefixes with less after them than a whole key
    has, since messages cut them short.
    """
    values = sorted(own_keys(env), key=len, reverse=True)  # the longest first: one may begin another
    if values:
        text = re.sub("|".join(map(re.escape, values)), REDACTED, text)
    text = _BLOCK.sub(lambda match: f"{match['header']}{REDACTED}", text)
    for _, pattern in well_known(text):
        text = pattern.sub(REDACTED, text)
    return _SHAPES.sub(_keep_surroundings, text)


def _keep_surroundings(match: re.Match[str]) -> str:
    return f"{match['before'] or match['scheme'] or ''}{REDACTED}"
