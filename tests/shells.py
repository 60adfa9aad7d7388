"""Shells for tests that aren't about sandboxes: commands run as they are."""

from __future__ import annotations

import os
from pathlib import Path

from agent.domain.config import SandboxSettings
from agent.worker.sandbox.confines import confine
from agent.worker.sandbox.nothing import Nothing
from agent.worker.shell import Shell, clean_environment


def bare_shell(root: Path) -> Shell:
    """A shell in `root` without a sandbox."""
    settings = SandboxSettings(kind="none")
    return Shell(root, clean_environment(os.environ), Nothing(), confine(root, (), root, settings, os.environ), settings)
