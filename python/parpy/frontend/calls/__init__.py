"""Calls become surface IR: `calls.py` first, then the functions that compiled code knows (`intrinsics.py`)."""
