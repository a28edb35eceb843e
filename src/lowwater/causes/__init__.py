"""Who holds the memory, at which line, and how to fix it: one file for each cause."""
