"""Functions of NumPy that compiled code calls as if the user had written them: ordinary functions of the language.

`arrays.py` has one for each. A call of NumPy's function, or of the method, becomes a call of ours (`library_function`).
"""

from .table import (
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
    "gives_array",
    "gives_number",
    "is_for_loops",
    "is_in_library",
    "is_update",
    "library_function",
    "library_method",
    "stores_method",
]
