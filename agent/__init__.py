"""agentctl: a coding agent whose whole memory is the repository that it works on."""

__version__ = "0.1.0"
