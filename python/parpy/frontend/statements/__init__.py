"""Statements become surface IR: `statements.py`, `assignments.py` and `loops.py` have a function for each kind."""
