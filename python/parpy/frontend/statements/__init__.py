"""Translates statements to surface IR, by a function for each kind in `statements.py`, `assignments.py`, `loops.py`."""
