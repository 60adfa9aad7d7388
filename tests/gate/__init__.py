"""The gate, against what real runners and real processes do."""
