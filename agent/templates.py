"""The texts that `init` writes and models are told, from `templates/`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_INSTALLED = Path(__file__).with_name("templates")
_CHECKOUT = Path(__file__).parent.parent / "templates"


@cache
def template(name: str) -> str:
    """The text of `templates/NAME`: beside the package in a wheel, at the top of the repository in a checkout."""
    folder = _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT
    return (folder / name).read_text("utf-8")
