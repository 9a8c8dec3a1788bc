"""The parts of the language that only kernels by hand have: barriers, exchanges (`kernels.py`), arrays of blocks and
threads, records.
"""
