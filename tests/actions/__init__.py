"""The verbs, on real repositories."""
