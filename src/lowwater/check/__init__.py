"""The source side: parse files, follow names, and ask each cause whether it is in the source."""
