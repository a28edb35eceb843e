"""What the text of the user's program says about its containers."""
