"""The objects in plain Python for operators that Python itself does not have."""
