"""The tools of the built-in worker, one file each."""
