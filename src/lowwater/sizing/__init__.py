"""Will it fit: what a training step takes, the largest batch for a limit, and what would help."""
