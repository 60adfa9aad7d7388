"""Lines that stand for text instead of being it: "... rest of file unchanged", and the marks of our own cuts."""

from __future__ import annotations

import re

from agent.domain.text import cut_marks

# Blanks are matched in one place only, and never across lines: a megabyte of them takes no longer than its length.
_COMMENT = r"[^\S\n]*(?:(?:\#+|//+|/\*+|<!--|--|;+|\*|%+|\{/\*)[^\S\n]*)?"
_THING = r"(?:file|code|content|text|function|class|method|document|implementation|module|script|lines?|methods|functions|tests|imports|entries)"
_ABSENT = rf"(?:the[ ])?(?:rest[ ]of[ ](?:the[ ]|this[ ])?{_THING}|(?:existing|remaining|unchanged|previous|original|other|more)[ ]{_THING})"
_SURELY_ABSENT = rf"(?:the[ ])?(?:rest[ ]of[ ](?:the[ ]|this[ ])?{_THING}|(?:existing|remaining|unchanged)[ ](?:code|content|lines))"
_STAYS = r"(?:[ ](?:remains?|stays?|is|are|goes|continues|unchanged|the[ ]same|same|as[ ](?:it[ ])?(?:is|was|before)|here|omitted|for[ ]brevity|above|below))*"
_PLACEHOLDERS = (
    # an ellipsis, then words about text that isn't there
    rf"^{_COMMENT}[\[(<]*(?:\.\.\.|…)[^\n]{{0,40}}?\b(?:{_ABSENT}|unchanged|truncated|omitted|snip|same[ ]as[ ](?:before|above)|as[ ]before)\b[^\n]{{0,80}}$",
    # a comment or a bracket that says nothing else
    rf"^(?![^\S\n]*\w){_COMMENT}[\[(<]*{_SURELY_ABSENT}{_STAYS}(?:[\])>}}.…*/-]|[^\S\n])*$",
    r"^.{0,20}[\[(<](?:\.\.\.|…)?[ ]?(?:output[ ]|content[ ]|text[ ])?truncated[ ]?(?:\.\.\.|…)?[\])>]",
)
_PLACEHOLDER = "(?mi)" + "|".join(_PLACEHOLDERS)
_MARKS = ("...", "…", "rest of", "existing", "remaining", "unchanged", "truncated")  # each has one of these, and most texts none


def placeholder(new: str, before: str) -> str:
    """The first line or mark in `new` that stands for text left out and was not in `before`; "" where there is none."""
    known = {line.strip() for line in before.split("\n")}
    folded = new.casefold()
    suspect = new if any(mark in folded for mark in _MARKS) else ""
    lines = (match[0].strip() for match in re.finditer(_PLACEHOLDER, suspect))
    return next((line for line in lines if line not in known), "") or min(cut_marks(new) - cut_marks(before), default="")
