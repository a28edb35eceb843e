"""Finds what grew: looks at all objects of the program, and at the paths that lead to them."""
