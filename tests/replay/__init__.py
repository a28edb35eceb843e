"""Recordings of the specimens, judged again: whole, cut short and resampled."""
