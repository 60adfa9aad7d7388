"""What agentctl verifies itself before anything lands."""
