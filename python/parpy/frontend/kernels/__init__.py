"""What only kernels by hand contain: barriers, exchanges (`kernels.py`), arrays of blocks and threads, records."""
