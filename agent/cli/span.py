"""A span of time on the command line."""

from __future__ import annotations

import re
from datetime import timedelta

import click

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class Span(click.ParamType[timedelta]):
    """90m, 8h, 2d12h."""

    name = "8h"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        parts = re.fullmatch(r"(?:\d+(?:\.\d+)?[smhd])+", str(value))
        if not parts:
            self.fail(f"{value!r} is no span of time: write 90m, 8h or 2d12h.", param, ctx)
        return timedelta(seconds=sum(float(number) * _UNITS[unit] for number, unit in re.findall(r"(\d+(?:\.\d+)?)([smhd])", str(value))))
