"""One file per framework: real steps at any batch size, and their peaks."""
