"""Telling: a diagnosis becomes text, JSON or one live line; nothing is measured or judged here."""
