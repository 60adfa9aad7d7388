"""Tests that a step weakens, told from the files' texts before and after it: one file for each family of languages."""
