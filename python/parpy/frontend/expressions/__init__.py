"""Expressions become surface IR: `expressions.py` has a function for each kind of node, the others what these share."""
