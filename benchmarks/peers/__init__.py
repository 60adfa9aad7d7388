"""Whole tasks by agentctl and by other coding agents, against one loopback server."""
