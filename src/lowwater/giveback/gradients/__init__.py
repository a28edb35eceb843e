"""Who keeps the functions in TensorFlow's gradient registry: the graphs that need them (LW205).

`mend()` gives them to their graphs for good, as operations come into graphs; `release()` lends
them to the graphs that it finds, for the time of one collection.
"""
