"""Translates expressions to surface IR: `expressions.py` has a function for each kind of node."""
