"""The nouns of agentctl as values: no git, no model, no clock, no files."""
