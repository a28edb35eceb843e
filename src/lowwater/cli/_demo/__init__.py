"""Two small Keras programs, alike but for one line: one leaks, its twin does not."""
