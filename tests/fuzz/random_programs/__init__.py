"""Random programs, compiled and interpreted: what a program leaves in memory must be the same on every back end, in
every mode, for every layout and overlap of its arguments, and whatever calls came before. `tests/fuzz/run.py` runs
them.
"""
