"""The process beside the user's: starts it, shows how it goes, outlives it, and reports."""
