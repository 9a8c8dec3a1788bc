"""Random programs, compiled and interpreted: the memory after a program must be the same on every back end, in
every mode, for every layout and overlap of its arguments, and after any calls before. `tests/fuzz/run.py` runs
them.
"""
