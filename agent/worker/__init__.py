"""Who does the work of a step."""
