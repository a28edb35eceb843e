"""One file per way to need less memory; each is applied to a model and measured, not asserted."""
