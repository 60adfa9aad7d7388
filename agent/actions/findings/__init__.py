"""What `agentctl doctor` looks for: one small function for each finding."""
