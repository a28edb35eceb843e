"""All that runs inside the user's process: says when, measures, and looks who holds what grew."""
