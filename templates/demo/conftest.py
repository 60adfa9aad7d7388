"""Lets the tests import till.py."""
