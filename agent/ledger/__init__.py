"""What was spent, what calls under way may cost, and the caps on both: files in the git directory that all work trees share."""

from __future__ import annotations

from agent.ledger.calls import Call, Ledger, Spent, Sums
from agent.ledger.holds import Hold, Holds
from agent.ledger.purse import CapError, Meter, Purse, by_day, spent_by_day

__all__ = ["Call", "CapError", "Hold", "Holds", "Ledger", "Meter", "Purse", "Spent", "Sums", "by_day", "spent_by_day"]
