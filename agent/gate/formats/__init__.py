"""How test runners write: one file for each family of them, all behind `Runner`."""
