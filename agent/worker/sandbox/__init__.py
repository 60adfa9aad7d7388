"""Sandboxes for the commands of a step: one file for each mechanism, and what is common to them (see docs/security.md)."""
