"""The worker's tools, its workspace and its commands."""
