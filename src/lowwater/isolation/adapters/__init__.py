"""Where trials come from: libraries that search, whose trials run in fresh processes."""
