"""The debugging checklist as experiments: one thing is changed, everything else stays."""
