"""What README claims about speed, one command each: `python -m benchmarks.commands`, `python -m benchmarks.step`."""
