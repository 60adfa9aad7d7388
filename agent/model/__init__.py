"""The only place that knows litellm or tiktoken, and the only one that reaches the network."""
