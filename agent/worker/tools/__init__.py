"""The tools of the built-in worker, one file each; these two sets are all a session can call."""

from __future__ import annotations

from collections.abc import Mapping

from agent.worker.tools.ask import Ask
from agent.worker.tools.base import Desk, Ready, Result, Tool, parse_args, perform, prepare
from agent.worker.tools.edit import Edit
from agent.worker.tools.finish import Finish
from agent.worker.tools.list import List
from agent.worker.tools.propose import Propose
from agent.worker.tools.read import Read
from agent.worker.tools.remember import Remember
from agent.worker.tools.run import Run
from agent.worker.tools.search import Search
from agent.worker.tools.write import Write

__all__ = ["PLAN_TOOLS", "STEP_TOOLS", "Desk", "Ready", "Result", "Tool", "parse_args", "perform", "prepare"]


def _named(*tools: Tool) -> Mapping[str, Tool]:
    return {tool.spec.name: tool for tool in tools}


STEP_TOOLS = _named(Read(), Search(), List(), Edit(), Write(), Run(), Remember(), Propose(), Ask(), Finish())
PLAN_TOOLS = _named(Read(), Search(), List(), Propose(), Finish())
