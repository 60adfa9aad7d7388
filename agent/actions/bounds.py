"""What a session is bound to beside its repository's config."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from msgspec import Struct

from agent.domain.config import Limits
from agent.ledger import Meter
from agent.model.protocol import Model


class Bounds(Struct, frozen=True):
    """What the command line and a run say of a session: its limits, given the config's; what the run may cost; until when (of `time.monotonic`).

    `clock` measures the session's own minutes: it may stand still while a provider is waited for, by what is put `around` the model.
    """

    limits: Callable[[Limits], Limits] = lambda configured: configured
    meter: Meter | None = None
    deadline: float = math.inf
    clock: Callable[[], float] = time.monotonic
    around: Callable[[Model], Model] = lambda model: model


UNBOUND = Bounds()
