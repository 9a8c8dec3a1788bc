"""Operators that a program may name and that Python has no name for, as plain Python sees them."""
