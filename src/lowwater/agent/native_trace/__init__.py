"""Lets memray watch a few rounds where memory grows and no Python object explains it."""
