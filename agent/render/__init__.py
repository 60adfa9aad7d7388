"""Results and events as text for people or JSON for programs."""
