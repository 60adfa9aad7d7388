"""What strangers, models, crashes and editors may put where agentctl reads: thousands of inputs each, `make fuzz`."""
