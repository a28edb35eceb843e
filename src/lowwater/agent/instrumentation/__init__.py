"""Says when: places boundaries into the user's loops and into the framework's functions."""
