"""NumPy's universal functions from scalar functions and from functions of small arrays, on every back end."""
