"""Ends training at a boundary before memory runs out, and saves the model first."""
