"""Implementations of NumPy functions in the compiled language, which are compiled as if the user had written them.

Calls of a NumPy function, or of the array method, become calls of its implementation (`library_function`).
"""

from .table import (
    ListedArray,
    gives_array,
    gives_number,
    is_for_loops,
    is_in_library,
    is_update,
    library_function,
    library_method,
    stores_method,
)

__all__ = [
    "ListedArray",
    "gives_array",
    "gives_number",
    "is_for_loops",
    "is_in_library",
    "is_update",
    "library_function",
    "library_method",
    "stores_method",
]
