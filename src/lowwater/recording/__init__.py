"""The file in the middle: boundaries and readings go in, a Timeline comes out."""
