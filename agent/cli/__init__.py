"""The command line: thin modules over actions and render."""
