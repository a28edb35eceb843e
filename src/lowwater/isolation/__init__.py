"""A fresh process for every trial: what it used is back when it has ended, whatever leaked."""
